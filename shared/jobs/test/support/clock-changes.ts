import { expect } from 'chai';
import { Schedule } from '../../src/storage.js';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/** A clock that is set forward or back. */
interface ClockChange {
  readonly zone: string;
  /** The first moment with the new time. */
  readonly at: number;
  /** What the clock would show at that moment without the change, and what it shows; see {@link shownAt}. */
  readonly before: number;
  readonly after: number;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Returns what a clock shows, in milliseconds since 1970-01-01T00:00 on this clock, in whole minutes. */
function shownAt(zone: string, time: number): number {
  const format =
    formats.get(zone) ??
    new Intl.DateTimeFormat('sv', {
      timeZone: zone,
      ...({ year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' } as const),
    });
  formats.set(zone, format);
  return Date.parse(`${format.format(time).replace(' ', 'T')}Z`);
}

/**
 * Returns the changes of clocks from the start of one year to the start of another. Clocks that change alike at the same
 * moment are represented by one of them.
 */
export function clockChanges(zones: readonly string[], fromYear: number, toYear: number): ClockChange[] {
  const changes = new Map<string, ClockChange>();
  for (const zone of zones) {
    const offsetAt = (time: number): number => shownAt(zone, time) - time;
    let offset = offsetAt(Date.UTC(fromYear, 0));
    for (let day = Date.UTC(fromYear, 0); day < Date.UTC(toYear, 0); day += dayMs) {
      const earlier = offset;
      offset = offsetAt(day + dayMs);
      if (offset === earlier) continue;
      let [last, at] = [day, day + dayMs]; // the last minute known to have the earlier offset, and the first known not to
      while (at - last > minuteMs) {
        const middle = last + Math.floor((at - last) / 2 / minuteMs) * minuteMs;
        if (offsetAt(middle) === earlier) last = middle;
        else at = middle;
      }
      const change = { zone, at, before: at + earlier, after: at + offsetAt(at) };
      changes.set([at, change.before, change.after].join(' '), change);
    }
  }
  return [...changes.values()];
}

/** A cron expression, and whether a time that a clock shows matches it. */
interface Expectation {
  readonly cron: string;
  readonly isFixed: boolean;
  readonly matches: (shown: Date) => boolean;
}

/** Returns expressions whose times are affected by a change. */
function expressionsAround({ before, after }: ClockChange): Expectation[] {
  const [start, end] = [new Date(Math.min(before, after)), new Date(Math.max(before, after))];
  const middle = new Date((start.getTime() + end.getTime()) / 2);
  const atOnly =
    (time: Date) =>
    (shown: Date): boolean =>
      shown.getUTCHours() === time.getUTCHours() && shown.getUTCMinutes() === time.getUTCMinutes();
  const fixed = [start, middle, end, new Date(end.getTime() - minuteMs)].flatMap((time) => {
    const clock = `${time.getUTCMinutes()} ${time.getUTCHours()}`;
    const at = atOnly(time);
    const [day, month, weekday] = [time.getUTCDate(), time.getUTCMonth(), time.getUTCDay()];
    return [
      { cron: `${clock} * * *`, matches: at },
      {
        cron: `${clock} * * ${weekday}`,
        matches: (shown: Date) => at(shown) && shown.getUTCDay() === weekday,
      },
      { cron: `${clock} ${day} * *`, matches: (shown: Date) => at(shown) && shown.getUTCDate() === day },
      {
        cron: `${clock} ${day} ${month + 1} *`,
        matches: (shown: Date) => at(shown) && shown.getUTCDate() === day && shown.getUTCMonth() === month,
      },
    ];
  });
  const hour = start.getUTCHours();
  return [
    ...[
      ...fixed,
      {
        cron: '59 23 * * *',
        matches: (shown: Date) => shown.getUTCHours() === 23 && shown.getUTCMinutes() === 59,
      },
      { cron: '0,30 0-3,21-23 * * *', matches: halfHourlyAtNight },
    ].map((one) => ({ ...one, isFixed: true })),
    ...[
      { cron: '*/15 * * * *', matches: (shown: Date) => shown.getUTCMinutes() % 15 === 0 },
      {
        cron: '0 */2 * * *',
        matches: (shown: Date) => shown.getUTCHours() % 2 === 0 && shown.getUTCMinutes() === 0,
      },
      { cron: `* ${hour} * * *`, matches: (shown: Date) => shown.getUTCHours() === hour },
      {
        cron: `*/10 * * * ${start.getUTCDay()}`,
        matches: (shown: Date) => shown.getUTCMinutes() % 10 === 0 && shown.getUTCDay() === start.getUTCDay(),
      },
    ].map((one) => ({ ...one, isFixed: false })),
  ];
}

function halfHourlyAtNight(shown: Date): boolean {
  const hour = shown.getUTCHours();
  return (hour <= 3 || hour >= 21) && shown.getUTCMinutes() % 30 === 0;
}

/** The minutes around a change, and what the clock shows at each of them. */
interface Minutes {
  readonly from: number;
  readonly until: number;
  readonly shown: readonly Date[];
}

function minutesAround({ zone, at }: ClockChange): Minutes {
  const [from, until] = [at - 1.1 * dayMs, at + 1.1 * dayMs].map((time) => time - (time % minuteMs)) as [
    number,
    number,
  ];
  const shown: Date[] = [];
  for (let time = from; time <= until; time += minuteMs) shown.push(new Date(shownAt(zone, time)));
  return { from, until, shown };
}

/**
 * Finds the times of an expression by looking at the clock every minute. A fixed time has come when the clock first shows
 * it or a later one.
 */
function expectedTimes({ isFixed, matches }: Expectation, { from, shown }: Minutes): Date[] {
  let latest = (shown[0]?.getTime() ?? 0) - minuteMs;
  return shown.flatMap((now, index) => {
    const reached: Date[] = [];
    while (latest < now.getTime()) reached.push(new Date((latest += minuteMs)));
    return (isFixed ? reached.some(matches) : matches(now)) ? [new Date(from + index * minuteMs)] : [];
  });
}

/** Checks that schedules have the times that looking at the clock every minute finds around a change. */
export function expectAgreement(change: ClockChange): void {
  const minutes = minutesAround(change);
  for (const expression of expressionsAround(change)) {
    const schedule = new Schedule({ cron: expression.cron, timeZone: change.zone });
    const expected = expectedTimes(expression, minutes);
    const where = `${expression.cron} in ${change.zone}, ${new Date(change.at).toISOString()}`;
    const ahead = schedule.upcoming(expected.length, new Date(minutes.from - 1));
    expect(ahead, where).to.deep.equal(expected);
    const back = schedule.latest(minutes.shown.length, new Date(minutes.from), new Date(minutes.until));
    expect(back, `${where}, backwards`).to.deep.equal(expected);
  }
}
