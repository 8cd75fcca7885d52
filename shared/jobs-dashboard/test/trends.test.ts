import { MemoryStorage } from '@longshore/jobs';
import type { Timings } from '@longshore/jobs/storage';
import { ManualClock, overriding } from '@longshore/test-support';
import { expect } from 'chai';
import type { Chart } from '../src/format/chart.js';
import { linePath } from '../src/format/line-chart.js';
import { plainText, type Sentence } from '../src/format/sentence.js';
import type { PageContext } from '../src/shell/page.js';
import { rangeOf } from '../src/pages/trends/range.js';
import { trendsRegion } from '../src/pages/trends/region.js';

const MINUTE = 60_000;
const nowMs = Date.parse('2026-03-02T14:05:30Z');
const points = (...values: (number | null)[]) =>
  values.map((value, index) => ({ atMs: nowMs - (values.length - 1 - index) * MINUTE, value }));

describe('the backlog chart', () => {
  const textAt = async (measuredMs: number): Promise<string> => {
    const storage = new MemoryStorage({ clock: new ManualClock(new Date(nowMs)) });
    const read: Timings['read'] = async (query) =>
      (await storage.timings.read(query)).map((bucket) => ({
        ...bucket,
        backlog: bucket.at.getTime() <= measuredMs ? 0 : null,
      }));
    const reader = overriding(storage, { timings: { read } });
    const context = { reader, now: () => nowMs } as unknown as PageContext;
    const region = trendsRegion(context, { path: '', query: new URLSearchParams(), subject: {} });
    const { charts } = (await region.load()) as { charts: Record<string, unknown>[] };
    const { lines, note } = charts[2] as { lines: { text: string }[]; note: string[] };
    return `${lines[0]?.text} ${note.join('')}`;
  };

  it('shows no number and no trend if the backlog has not been measured for two minutes', async () => {
    expect(await textAt(nowMs - MINUTE)).to.equal('0 Empty');
    expect(await textAt(nowMs - 4 * MINUTE)).to.equal('– No recent figures');
  });
});

describe('the backlog chart of a whole day', () => {
  it('shows the latest number, not the highest of its last bucket', async () => {
    const storage = new MemoryStorage({ clock: new ManualClock(new Date(nowMs)) });
    const read: Timings['read'] = async (query) =>
      (await storage.timings.read(query)).map((bucket) => ({
        ...bucket,
        backlog: query.bucketMs === MINUTE ? 12 : 344,
      }));
    const context = {
      reader: overriding(storage, { timings: { read } }),
      now: () => nowMs,
    } as unknown as PageContext;
    const query = new URLSearchParams('range=24h');
    const { charts } = (await trendsRegion(context, { path: '', query, subject: {} }).load()) as {
      charts: { lines: { text: string }[] }[];
    };
    expect(charts[2]?.lines[0]?.text).to.equal('12');
  });
});

describe('the waiting chart', () => {
  const noteOf = async (
    waitedMs: number,
    readyMs: number,
    given: object = {},
    query = '',
  ): Promise<string> => {
    const storage = new MemoryStorage({ clock: new ManualClock(new Date(nowMs)) });
    storage.timings.started('mail', 'send', { waitedMs, readyMs });
    const context = { reader: storage, now: () => nowMs } as unknown as PageContext;
    const options = { path: '', query: new URLSearchParams(query), subject: {}, ...given };
    const { charts } = (await trendsRegion(context, options).load()) as {
      charts: { note: Sentence | null }[];
    };
    return plainText(charts[0]?.note ?? [], nowMs);
  };

  const parts = 'not ready for over 99 % of it, ready p95 718 ms';

  it('says for which part of the time jobs were not ready, in which period, and how long they were ready', async () => {
    expect(await noteOf(360_000, 700)).to.equal(`over 1 hour, ${parts}`);
    expect(await noteOf(360_000, 700, {}, 'range=6h')).to.equal(`over 6 hours, ${parts}`);
    const chosen = 'from=2026-03-02T10:00Z&until=2026-03-02T14:30Z';
    expect(await noteOf(360_000, 700, {}, chosen)).to.equal(`over this period, ${parts}`);
  });

  it('says that no key blocks jobs now, if that is certain', async () => {
    const noteWith = (isComplete: boolean): Promise<string> =>
      noteOf(360_000, 700, { blocking: async () => ({ keys: [], isComplete }) });
    expect(await noteWith(true)).to.equal(`over 1 hour, ${parts}; no key blocks now`);
    expect(await noteWith(false)).to.equal(`over 1 hour, ${parts}`);
  });

  it('says nothing of that if the jobs were ready nearly all the time', async () => {
    expect(await noteOf(10_000, 9_950)).to.equal('');
  });

  it('says nothing of that if nearly all jobs waited for less than a second', async () => {
    expect(await noteOf(700, 100)).to.equal('');
  });
});

describe('the time axis', () => {
  it('names its middle and its end if the charts do not end now', async () => {
    const storage = new MemoryStorage({ clock: new ManualClock(new Date(nowMs)) });
    const context = { reader: storage, now: () => nowMs } as unknown as PageContext;
    const query = new URLSearchParams('from=2026-03-02T10:00Z&until=2026-03-02T12:00Z');
    const region = trendsRegion(context, { path: '', query, subject: {} });
    const { ticks, end } = (await region.load()) as { ticks: Date[]; end: Date };
    const hours = [...ticks, end].map((at) => at.toISOString().slice(11, 16));
    expect(hours).to.deep.equal(['10:00', '11:00', '12:00']);
  });
});

describe('the throughput chart', () => {
  for (const [what, query, outlines] of [
    ['outlines the current minute', '', true],
    ['outlines nothing in the past', 'from=2026-03-02T10:00Z&until=2026-03-02T12:00Z', false],
    ['outlines the current minute at a chosen end', 'from=2026-03-02T10:00Z&until=2026-03-02T15:00Z', true],
  ] as const)
    it(what, async () => {
      const storage = new MemoryStorage({ clock: new ManualClock(new Date(nowMs)) });
      const context = { reader: storage, now: () => nowMs } as unknown as PageContext;
      const options = { path: '', query: new URLSearchParams(query), subject: {}, throughput: true };
      const { throughput } = (await trendsRegion(context, options).load()) as { throughput: Chart };
      expect(throughput.unfinished !== null).to.equal(outlines);
    });
});

describe('the line of a chart', () => {
  it('has gaps where nothing was measured, and shows a value without neighbours', () => {
    const span = { fromMs: nowMs - 4 * MINUTE, untilMs: nowMs };
    const scale = { top: 10, middle: 5, bottom: 0, isLogarithmic: false };
    expect(linePath(points(10, 5, null, 0, null), span, scale)).to.equal('M0 0L250 50M750 100h4');
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

  it('lies between two times in the viewer’s zone, and keeps them in links without it', () => {
    const { fromMs, query } = range('from=2026-03-02T11:00&until=2026-03-02T13:00&zone=Europe/Berlin');
    expect(new Date(fromMs).toISOString()).to.equal('2026-03-02T10:00:00.000Z');
    expect(range(query({ before: 'day' })).fromMs).to.equal(fromMs);
    expect(query({})).not.to.include('zone');
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
