import { turnsDuring } from '@longshore/test-support';
import { expect } from 'chai';
import fc from 'fast-check';
import { InvalidScheduleError, nextOccurrences } from '../src/index.js';
import { Schedule } from '../src/storage.js';
import { clockChanges, expectAgreement } from './support/clock-changes.js';

const zone = 'Europe/Berlin'; // in 2026, clocks go forward on 29 March and back on 25 October, both at 01:00Z

function times(cron: string, count: number, after: string, timeZone = zone): string[] {
  return nextOccurrences({ cron, timeZone }, count, new Date(after)).map((time) =>
    time.toISOString().replace(':00.000Z', 'Z'),
  );
}

/** Counts how often a clock is read: what finding a time costs. */
function readingsDuring(work: () => void): number {
  const { prototype } = Intl.DateTimeFormat;
  const original = Object.getOwnPropertyDescriptor(prototype, 'format') ?? {};
  let readings = 0;
  Object.defineProperty(prototype, 'format', {
    ...original,
    get(this: Intl.DateTimeFormat) {
      readings += 1;
      return original.get?.call(this) as unknown;
    },
  });
  try {
    work();
  } finally {
    Object.defineProperty(prototype, 'format', original);
  }
  return readings;
}

const now = new Date('2026-11-27T00:00Z');

describe('A schedule', () => {
  it('reads five fields, in UTC by default', () => {
    expect(nextOccurrences({ cron: '30 2 * * *' }, 1, new Date('2026-01-01T00:00Z'))).to.deep.equal([
      new Date('2026-01-01T02:30Z'),
    ]);
  });

  it('knows which times were moved because the clock was set forward', () => {
    const moved = (cron: string): boolean[] => {
      const schedule = new Schedule({ cron, timeZone: zone });
      return schedule.upcoming(3, new Date('2026-03-28T00:00Z')).map((time) => schedule.isMoved(time));
    };
    expect(moved('30 2 * * *')).to.deep.equal([false, true, false]);
    expect(moved('0 3 * * *')).to.deep.equal([false, false, false]);
    expect(moved('30 * * * *')).to.deep.equal([false, false, false]);
    expect(new Schedule({ every: '1 h' }).isMoved(new Date('2026-03-29T01:00Z'))).to.equal(false);
  });

  it('reads six fields with the seconds first', () => {
    const [first, second] = nextOccurrences({ cron: '*/20 * * * * *' }, 2, new Date('2026-01-01T00:00Z'));
    expect([first?.getUTCSeconds(), second?.getUTCSeconds()]).to.deep.equal([20, 40]);
  });

  it('reads nicknames, as fixed times in its time zone', () => {
    const first = (cron: string): string[] => times(cron, 1, '2026-03-27T12:10Z');
    expect(['@hourly', '@daily', '@weekly', '@monthly', '@yearly'].flatMap(first)).to.deep.equal([
      '2026-03-27T13:00Z',
      '2026-03-27T23:00Z',
      '2026-03-28T23:00Z',
      '2026-03-31T22:00Z',
      '2026-12-31T23:00Z',
    ]);
    expect([' @daily ', '@midnight'].flatMap(first)).to.deep.equal([...first('@daily'), ...first('@daily')]);
  });

  it('moves a fixed time that is skipped in spring to the end of the gap', () => {
    expect(times('30 2 * * *', 3, '2026-03-28T00:00Z')).to.deep.equal([
      '2026-03-28T01:30Z',
      '2026-03-29T01:00Z',
      '2026-03-30T00:30Z',
    ]);
  });

  it('moves a fixed time that is skipped before midnight to the start of the next day', () => {
    expect(times('30 23 * * *', 3, '2024-03-30T12:00Z', 'America/Nuuk')).to.deep.equal([
      '2024-03-31T01:00Z',
      '2024-04-01T00:30Z',
      '2024-04-02T00:30Z',
    ]);
  });

  it('has the times that looking at the clock every minute finds, where clocks change at odd times', () => {
    const odd = [
      'America/Nuuk',
      'Australia/Lord_Howe',
      'Antarctica/Troll',
      'Africa/Casablanca',
      'Asia/Beirut',
    ];
    const changes = clockChanges([...odd, zone, 'America/Havana', 'America/Santiago'], 2024, 2025);
    expect(changes).to.have.length(16);
    for (const change of changes) expectAgreement(change);
  });

  it('has a fixed time that occurs twice in autumn only the first time', () => {
    expect(times('30 2 * * *', 3, '2026-10-24T00:00Z')).to.deep.equal([
      '2026-10-24T00:30Z',
      '2026-10-25T00:30Z',
      '2026-10-26T01:30Z',
    ]);
  });

  it('does not repeat that time when asked between the two occurrences', () => {
    expect(times('30 2 * * *', 1, '2026-10-25T00:45Z')).to.deep.equal(['2026-10-26T01:30Z']);
  });

  it('treats a list of hours as fixed times', () => {
    expect(times('30 2,14 * * *', 2, '2026-03-28T20:00Z')).to.deep.equal([
      '2026-03-29T01:00Z',
      '2026-03-29T12:30Z',
    ]);
  });

  it('continues an interval evenly across the gap', () => {
    expect(times('*/15 * * * *', 4, '2026-03-29T00:20Z')).to.deep.equal([
      '2026-03-29T00:30Z',
      '2026-03-29T00:45Z',
      '2026-03-29T01:00Z',
      '2026-03-29T01:15Z',
    ]);
  });

  it('continues an interval evenly through the repeated hour', () => {
    const found = times('*/15 * * * *', 12, '2026-10-24T23:55Z').map((time) => Date.parse(time));
    expect(found.map((time, index) => time - (found[index - 1] ?? time - 900_000))).to.deep.equal(
      Array.from({ length: 12 }, () => 900_000),
    );
  });

  it('treats a step that selects one value as a fixed time', () => {
    for (const midnight of ['0 */24 * * *', '0 0-5/7 * * *', '*/60 */24 * * *', '0-0/1 0 * * *'])
      for (const midnightless of ['America/Havana', 'America/Santiago'])
        expect(times(midnight, 400, '2026-01-01T12:00Z', midnightless), midnight).to.deep.equal(
          times('0 0 * * *', 400, '2026-01-01T12:00Z', midnightless),
        );
  });

  it('has no times after the year 9999 or before 1970', () => {
    for (const daily of ['0 12 * * *', '0 */12 * * 5']) {
      const schedule = new Schedule({ cron: daily, timeZone: zone });
      expect(schedule.upcoming(9, new Date('9999-12-31T10:00Z'))).to.deep.equal([
        new Date('9999-12-31T11:00Z'),
      ]);
      expect(schedule.next(new Date('9999-12-31T23:59:59Z')), daily).to.equal(null);
      const early = new Date('1900-01-01T00:00Z');
      expect(schedule.next(early)?.getUTCFullYear()).to.equal(1970);
      const firstDays = schedule.latest(1_000, early, new Date('1970-01-20T00:00Z'));
      expect(firstDays.map((time) => time.getUTCFullYear()))
        .to.include(1970)
        .and.not.include(1969);
    }
  });

  it('has no next time if all of its times are skipped for 50 years', () => {
    const schedule = new Schedule({ cron: '*/59 2 * 3 0L', timeZone: zone });
    expect(schedule.next(now)).to.equal(null);
    expect(schedule.latest(1, new Date('1990-01-01T00:00Z'), now)).to.deep.equal([]);
  });

  for (const [rare, zones] of [
    ['0 */24 * 2 1#5', ['Europe/Berlin', 'Africa/Casablanca']],
    ['0 */12 * 2 1#5', ['Europe/Berlin', 'Africa/Casablanca']],
    ['0 0 */23 29 2 *', ['America/Nuuk', 'Australia/Lord_Howe']],
    ['0 0 1 1 *', ['America/New_York', 'Africa/Casablanca']],
  ] as const)
    for (const rareZone of zones)
      it(`reads the clock a few times for each time of "${rare}" in ${rareZone}, however far apart they are`, () => {
        const schedule = new Schedule({ cron: rare, timeZone: rareZone });
        const count = 61;
        const readings = readingsDuring(() => {
          expect(schedule.upcoming(count, now)).to.have.length(count);
        });
        expect(readings / count).to.be.below(20);
      });

  it('reads the clock a few thousand times at most to find that all of its times are skipped', () => {
    const schedule = new Schedule({ cron: '*/59 2 * 3 0L', timeZone: 'Europe/Vienna' });
    expect(readingsDuring(() => schedule.upcoming(1_000, now))).to.be.below(3_000);
  });

  it('does not read the clock again for times near to each other', () => {
    const schedule = new Schedule({ cron: '*/15 * * * *', timeZone: 'Africa/Casablanca' });
    expect(readingsDuring(() => schedule.upcoming(1_000, now))).to.be.below(60);
    expect(readingsDuring(() => schedule.upcoming(1_000, now))).to.equal(0);
    expect(readingsDuring(() => schedule.latest(900, now, new Date('2026-12-07')))).to.equal(0);
  });

  it('lets other work run while many rare times are found', async () => {
    const rare = Intl.supportedValuesOf('timeZone').slice(0, 40);
    const turns = await turnsDuring(() =>
      Promise.all(
        rare.map((timeZone) =>
          new Schedule({ cron: '*/30 */12 * 2 1#5', timeZone }).upcomingInSlices(1_000, now),
        ),
      ),
    );
    expect(turns).to.be.at.least(5);
  });

  it('finds the same times in slices', async () => {
    const schedule = new Schedule({ cron: '*/20 * * 3 *', timeZone: zone });
    expect(await schedule.upcomingInSlices(50, now)).to.deep.equal(schedule.upcoming(50, now));
  });

  for (const dayZone of ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'America/Santiago']) {
    it(`has one time per day of the year in ${dayZone}, whatever the hour`, () => {
      const dayOf = new Intl.DateTimeFormat('en-CA', { timeZone: dayZone, dateStyle: 'short' });
      for (const hour of [0, 1, 2, 3]) {
        const start = new Date('2026-01-01T12:00Z');
        const schedule = new Schedule({ cron: `15 ${hour} * * *`, timeZone: dayZone });
        expect(new Set(schedule.upcoming(364, start).map((time) => dayOf.format(time)))).to.have.property(
          'size',
          364,
        );
      }
    });
  }

  for (const [cron, after, expected] of [
    ['0 0 L * *', '2028-02-01T00:00Z', '2028-02-29T00:00Z'],
    ['0 0 LW * *', '2026-02-01T00:00Z', '2026-02-27T00:00Z'],
    ['0 0 15W * *', '2026-08-01T00:00Z', '2026-08-14T00:00Z'],
    ['0 0 1W * *', '2026-07-31T12:00Z', '2026-08-03T00:00Z'],
    ['0 0 * * 5#2', '2026-11-01T00:00Z', '2026-11-13T00:00Z'],
    ['0 0 * * friL', '2026-11-01T00:00Z', '2026-11-27T00:00Z'],
    ['0 0 13 * fri', '2026-11-01T00:00Z', '2026-11-06T00:00Z'],
    ['0 0 * JAN-MAR SAT-SUN', '2026-11-01T00:00Z', '2027-01-02T00:00Z'],
    ['0 0 29 2 *', '2096-03-01T00:00Z', '2104-02-29T00:00Z'],
    ['0 0 * 2 mon#5', '2072-03-01T00:00Z', '2112-02-29T00:00Z'],
    ['0 0 ? * 7', '2026-11-01T12:00Z', '2026-11-08T00:00Z'],
  ] as const) {
    it(`finds the next time of "${cron}" after ${after}`, () => {
      expect(times(cron, 1, after, 'UTC')).to.deep.equal([expected]);
    });
  }

  it('finds the same times backwards as forwards', () => {
    const field = (least: number, most: number): fc.Arbitrary<string> =>
      fc.oneof(
        fc.constant('*'),
        fc.integer({ min: least, max: most }).map(String),
        fc.integer({ min: 2, max: 20 }).map((step) => `*/${step}`),
      );
    const cron = fc
      .tuple(field(0, 59), field(0, 23), field(1, 28))
      .map(([minute, hour, day]) => `${minute} ${hour} ${day} * *`);
    const start = fc.integer({ min: Date.UTC(2026, 0), max: Date.UTC(2027, 0) }).map((ms) => new Date(ms));
    fc.assert(
      fc.property(cron, start, (expression, from) => {
        const schedule = new Schedule({ cron: expression, timeZone: zone });
        const ahead = schedule.upcoming(5, from);
        expect(ahead).to.deep.equal(ahead.toSorted((left, right) => left.getTime() - right.getTime()));
        expect(ahead[0]).to.be.greaterThan(from);
        expect(schedule.latest(5, from, ahead[4] ?? from)).to.deep.equal(ahead);
      }),
      { numRuns: 60 },
    );
  });

  for (const [cron, hint] of [
    ['* * * *', 'has 4 fields'],
    ['daily', 'nicknames such as "@daily"'],
    ['@reboot', 'a nickname such as "@daily"'],
    ['', 'has 0 fields'],
    ['* * * * * * 2099', 'has 7 fields'],
    ['60 * * * *', 'minute: 60 is not from 0 to 59'],
    ['0 0 * 13 *', 'month: 13 is not from 1 to 12'],
    ['0 0 0 * *', 'day of the month: 0 is not from 1 to 31'],
    ['0 0 32W * *', 'day of the month: 32 is not from 1 to 31'],
    ['0 24 * * *', 'hour: 24 is not from 0 to 23'],
    ['99 0 0 * * *', 'second: 99 is not from 0 to 59'],
    ['0 0 * * 8', 'day of the week: 8 is not from 0 to 7'],
    ['0 0 * * 5#6', 'day of the week: "5#6" is not valid'],
    ['0 0 * mai *', 'month: "mai" is not valid; use numbers from 1 to 12 (or jan to dec)'],
    ['0 5-3 * * *', 'hour: 5 is after 3'],
    ['0/15 * * * *', 'minute: a step follows * or a range'],
    ['*/61 * * * *', 'minute: a step is from 1 to 60, not 61'],
    ['1, * * * *', 'minute: an item of the list is empty'],
    [`0 0 ${'31W,'.repeat(300)}1 * *`, 'up to 1000 characters, not 1209'],
    ['every night at half two', 'is not a cron expression'],
    ['0 0 30 2 *', 'matches no date'],
  ] as const) {
    it(`rejects "${cron}" and says what to write`, () => {
      expect(() => new Schedule({ cron })).to.throw(InvalidScheduleError, hint);
    });
  }

  it('rejects an unknown time zone and says what to write', () => {
    expect(() => new Schedule({ cron: '* * * * *', timeZone: 'Mars/Olympus' })).to.throw(
      InvalidScheduleError,
      'IANA',
    );
  });
});
