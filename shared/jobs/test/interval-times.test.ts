import { expect } from 'chai';
import fc from 'fast-check';
import { InvalidScheduleError, nextOccurrences } from '../src/index.js';
import { Schedule, timeBounds } from '../src/storage.js';

const unitSeconds = { w: 604_800, d: 86_400, h: 3_600, min: 60, s: 1 };
const maxSeconds = 366 * 86_400;

/** Generates intervals, with their length in seconds. */
const intervals = fc
  .tuple(
    fc.subarray(['w', 'd', 'h', 'min', 's'] as const, { minLength: 1 }),
    fc.array(fc.integer({ min: 0, max: 5_000 }), { minLength: 5, maxLength: 5 }),
    fc.constantFrom('', ' '),
  )
  .map(([units, numbers, space]) => {
    const parts = units.map((unit, index) => [numbers[index] ?? 0, unit] as const);
    return {
      every: parts.map(([number, unit]) => `${number}${space}${unit}`).join(space),
      seconds: parts.reduce((sum, [number, unit]) => sum + number * unitSeconds[unit], 0),
    };
  })
  .filter(({ seconds }) => seconds >= 1 && seconds <= maxSeconds);

const wholeSeconds = fc
  .integer({ min: 0, max: Math.floor(timeBounds.max / 1_000) })
  .map((seconds) => new Date(seconds * 1_000));
const moments = fc.integer({ min: 0, max: timeBounds.max }).map((ms) => new Date(ms));

function times(every: string, anchor: string | undefined, count: number, after: string): string[] {
  const schedule = { every, ...(anchor !== undefined && { anchor: new Date(anchor) }) };
  return nextOccurrences(schedule, count, new Date(after)).map((time) => time.toISOString());
}

describe('An interval', () => {
  it('is due at its anchor, and at every multiple of its length before and after it, and at no other time', () => {
    fc.assert(
      fc.property(intervals, wholeSeconds, moments, ({ every, seconds }, anchor, after) => {
        const ahead = new Schedule({ every, anchor }).upcoming(5, after);
        const length = BigInt(seconds) * 1_000n;
        // Counts in integers of any size, from an anchor so early that all counts are positive.
        const origin = BigInt(anchor.getTime()) % length;
        const passed = (BigInt(after.getTime()) - origin + length) / length - 1n;
        const expected = [1n, 2n, 3n, 4n, 5n]
          .map((count) => Number(origin + (passed + count) * length))
          .filter((time) => time <= timeBounds.max);
        expect(ahead.map((time) => time.getTime())).to.deep.equal(expected);
      }),
      { numRuns: 300 },
    );
  });

  it('has the same times backwards as forwards', () => {
    fc.assert(
      fc.property(intervals, wholeSeconds, moments, ({ every }, anchor, after) => {
        const schedule = new Schedule({ every, anchor });
        const ahead = schedule.upcoming(5, after);
        const start = new Date(after.getTime() + 1);
        expect(schedule.latest(5, start, ahead.at(-1) ?? start)).to.deep.equal(ahead);
      }),
      { numRuns: 300 },
    );
  });

  it('counts from 1970 by default', () => {
    expect(times('7 h', undefined, 2, '1970-01-01T00:00Z')).to.deep.equal([
      '1970-01-01T07:00:00.000Z',
      '1970-01-01T14:00:00.000Z',
    ]);
  });

  it('is due before its anchor, too', () => {
    expect(times('1 d', '2030-01-01T06:00Z', 1, '2026-11-28T07:00Z')).to.deep.equal([
      '2026-11-29T06:00:00.000Z',
    ]);
  });

  it('keeps its length when clocks are set forward or back', () => {
    for (const change of ['2026-03-28T12:00Z', '2026-10-24T12:00Z']) {
      const found = nextOccurrences({ every: '45 min' }, 60, new Date(change)).map((time) => time.getTime());
      expect(new Set(found.slice(1).map((time, index) => time - (found[index] ?? 0)))).to.deep.equal(
        new Set([2_700_000]),
      );
    }
  });

  for (const [given, hint] of [
    [{ every: '90 seconds' }, 'write numbers with their units w, d, h, min and s'],
    [{ every: '30 min 1 h' }, 'the largest first'],
    [{ every: '1 h 1 h' }, 'is not an interval'],
    [{ every: '1.5 h' }, 'is not an interval'],
    [{ every: '-5 s' }, 'is not an interval'],
    [{ every: '90' }, 'is not an interval'],
    [{ every: '' }, 'is not an interval'],
    [{ every: 90 }, 'every must be an interval such as "90 s" or "15 min", not 90'],
    [{ every: '0 s' }, 'from 1 s to 366 d, not "0 s"'],
    [{ every: '53 w' }, 'from 1 s to 366 d'],
    [{ every: '1 h', anchor: '2026-01-01' }, 'anchor must be a Date'],
    [{ every: '1 h', anchor: new Date(1) }, 'in whole seconds'],
    [{ every: '1 h', anchor: new Date(-1_000) }, 'from 1970 to 9999'],
    [{ every: '1 h', timeZone: 'Europe/Berlin' }, 'timeZone does not apply to every'],
    [{ every: '1 h', cron: '@daily' }, 'cron or every, not both'],
    [{ cron: '@daily', anchor: new Date(0) }, 'anchor belongs to every'],
    [{}, 'A schedule needs cron'],
  ] as const) {
    it(`rejects ${JSON.stringify(given)} and says what to write`, () => {
      expect(() => new Schedule(given as never)).to.throw(InvalidScheduleError, hint);
    });
  }
});
