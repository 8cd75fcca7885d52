import { expect } from 'chai';
import { backlogTrend } from '../src/format/backlog-trend.js';
import { linePath } from '../src/format/line-chart.js';
import { rangeOf } from '../src/pages/trends/range.js';

const MINUTE = 60_000;
const nowMs = Date.parse('2026-03-02T14:05:30Z');
const points = (...values: (number | null)[]) =>
  values.map((value, index) => ({ atMs: nowMs - (values.length - 1 - index) * MINUTE, value }));

describe('the trend of a backlog', () => {
  for (const [text, values] of [
    ['Growing by 6.0/s', [0, 360, 720]],
    ['Growing by 3 jobs per min', [10, 13, 16]],
    ['Drains in 14 min', [1_600, 1_500, 1_400]],
    ['Steady', [1_000, 1_010, 990]],
    ['Empty', [100, 50, 0]],
    [null, [null, null, 5]],
  ] as const)
    it(`is ${text ?? 'unknown'} for ${values.join(', ')} per minute`, () => {
      expect(backlogTrend(points(...values), nowMs)).to.equal(text);
    });
});

describe('the line of a chart', () => {
  it('has gaps where nothing was measured, and shows a value without neighbours', () => {
    const span = { fromMs: nowMs - 4 * MINUTE, untilMs: nowMs };
    expect(linePath(points(10, 5, null, 0, null), span, 10)).to.equal('M0 0L250 50M750 100h4');
  });
});

describe('the range of charts', () => {
  const range = (query: string) => rangeOf(new URLSearchParams(query), nowMs);

  it('is the last hour by the minute, the current one included', () => {
    const { fromMs, untilMs, bucketMs, isLive } = range('');
    expect([new Date(fromMs).toISOString(), new Date(untilMs).toISOString()]).to.deep.equal([
      '2026-03-02T13:05:00.000Z',
      '2026-03-02T14:06:00.000Z',
    ]);
    expect([bucketMs, isLive]).to.deep.equal([MINUTE, true]);
  });

  it('lies between two ends, given in either order', () => {
    const { fromMs, untilMs, isLive } = range('until=2026-03-02T10:00Z&from=2026-03-02T12:00Z');
    expect([new Date(fromMs).toISOString(), new Date(untilMs).toISOString(), isLive]).to.deep.equal([
      '2026-03-02T10:00:00.000Z',
      '2026-03-02T12:00:00.000Z',
      false,
    ]);
  });

  it('keeps the usual span while only one end is picked', () => {
    const { pickedMs, isLive } = range('from=2026-03-02T12:00Z');
    expect([pickedMs, isLive]).to.deep.equal([Date.parse('2026-03-02T12:00Z'), true]);
  });

  it('is by the hour where minutes are no longer kept', () => {
    expect(range('from=2026-02-28T12:00Z&until=2026-02-28T14:00Z').bucketMs).to.equal(60 * MINUTE);
  });

  for (const query of ['range=9y', 'from=yesterday&until=today', 'from=2020-01-01&until=2020-01-02'])
    it(`ignores ${query}`, () => {
      expect(range(query).fromMs).to.equal(range('').fromMs);
    });
});
