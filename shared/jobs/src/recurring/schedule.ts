import { nextTurn, turnIsOver } from '@longshore/edge';
import { shown } from '../job/shown.js';
import { checkInteger, checkTime, timeBounds } from '../job/bounds.js';
import { CronTimes } from './cron-times.js';
import { IntervalTimes } from './interval-times.js';
import { InvalidScheduleError } from './invalid-schedule.js';

const secondMs = 1_000;

/** A schedule as it is stored: either `cron` or `every` is set, and the other is `null`. */
export interface StoredSchedule {
  /** A cron expression; `null` if the schedule is an interval. */
  cron: string | null;
  /** The IANA time zone of the cron expression; `UTC` for an interval, which no clock affects. */
  timeZone: string;
  /** An interval, such as `90 s`; `null` if the schedule is a cron expression. */
  every: string | null;
  /** One of the times of the interval; `null` if the schedule is a cron expression. */
  anchor: Date | null;
}

/** The times of a cron expression. */
export interface CronSchedule {
  /**
   * Five fields (minute, hour, day of the month, month, day of the week), six that start with the seconds, or a
   * nickname: `@hourly`, `@daily` (or `@midnight`), `@weekly`, `@monthly` or `@yearly` (or `@annually`). Up to 1000
   * characters.
   */
  readonly cron: string;
  /** An IANA time zone, such as `Europe/Berlin`; `UTC` by default. */
  readonly timeZone?: string;
  readonly every?: null;
  readonly anchor?: null;
}

/** The times of an interval. */
export interface IntervalSchedule {
  /**
   * The time between two due times, from `1 s` to `366 d`: numbers with the units `w`, `d`, `h`, `min` and `s`, the largest
   * first, such as `90 s`, `15 min` or `1 h 30 min`.
   */
  readonly every: string;
  /**
   * One of the due times, in whole seconds. The others are multiples of the interval before and after it.
   * `1970-01-01T00:00:00Z` by default.
   */
  readonly anchor?: Date | null;
  readonly cron?: null;
  readonly timeZone?: 'UTC';
}

/** When a recurring job is due: the times of a cron expression, or those of an interval. */
export type ScheduleOptions = CronSchedule | IntervalSchedule | StoredSchedule;

/** How a schedule finds its times, which are whole seconds. */
interface Times {
  /**
   * Returns the nearest time at or after `time` (`direction` 1), or at or before it (−1); `undefined` if there is none. A
   * time beyond `end` may count as none.
   */
  nearest(time: number, direction: 1 | -1, end: number): number | undefined;
  /** Returns whether the clock was set forward at one of the times, and skipped the time of day at which it was due. */
  isMoved(time: number): boolean;
}

/** The due times of a recurring job, in whole seconds, from 1970 to 9999. */
export class Schedule {
  readonly #times: Times;

  /** @throws {InvalidScheduleError} as {@link toStoredSchedule} does */
  constructor(options: ScheduleOptions) {
    this.#times = timesOf(toFields(options));
  }

  /** Returns the first time later than `after`; `null` if there is none. */
  next(after: Date): Date | null {
    const [first = null] = this.upcoming(1, after);
    return first;
  }

  /** Returns the first `count` times later than `after`, in ascending order; fewer if there are no more. */
  upcoming(count: number, after: Date): Date[] {
    return firstOf(this.after(after), count);
  }

  /** Like {@link upcoming}, in time slices: other requests are served in between. */
  async upcomingInSlices(count: number, after: Date): Promise<Date[]> {
    const times: Date[] = [];
    const rest = this.after(after);
    while (times.length < count) {
      if (turnIsOver()) await nextTurn();
      const [time] = firstOf(rest, 1);
      if (time === undefined) break;
      times.push(time);
    }
    return times;
  }

  /** Iterates over the times later than a time, in ascending order. Each is found when it is asked for. */
  after(time: Date): Generator<Date, undefined> {
    const from = Math.floor(time.getTime() / secondMs) * secondMs + secondMs;
    return this.#from(Math.max(from, timeBounds.min), 1, timeBounds.max);
  }

  /**
   * Returns the last `count` times from `from` to `until`, both inclusive, in ascending order; fewer if there
   * are not that many.
   */
  latest(count: number, from: Date, until: Date): Date[] {
    const start = Math.floor(Math.min(until.getTime(), timeBounds.max) / secondMs) * secondMs;
    return firstOf(this.#from(start, -1, Math.max(from.getTime(), timeBounds.min)), count).toReversed();
  }

  /**
   * Returns whether a due time was moved, because the clock was set forward then and skipped the time of day that the cron
   * expression names.
   *
   * @param time one of the due times
   */
  isMoved(time: Date): boolean {
    return this.#times.isMoved(time.getTime());
  }

  /** Iterates over the times from `start` on, in one direction, none beyond `end`. */
  *#from(start: number, direction: 1 | -1, end: number): Generator<Date, undefined> {
    let time = this.#times.nearest(start, direction, end);
    while (time !== undefined && (end - time) * direction >= 0) {
      yield new Date(time);
      time = this.#times.nearest(time + direction * secondMs, direction, end);
    }
  }
}

/**
 * Returns a schedule with its defaults filled in.
 *
 * @throws {InvalidScheduleError} if not exactly one of `cron` and `every` is set, if a value is invalid, or if no time matches
 *   the cron expression
 */
export function toStoredSchedule(options: ScheduleOptions): StoredSchedule {
  const schedule = toFields(options);
  timesOf(schedule);
  return schedule;
}

/** Like {@link toStoredSchedule}, but leaves the values of `cron`, `timeZone`, `every` and `anchor` unchecked. */
function toFields({
  cron = null,
  timeZone = 'UTC',
  every = null,
  anchor = null,
}: ScheduleOptions): StoredSchedule {
  if (cron !== null && every !== null)
    throw new InvalidScheduleError(
      `A schedule has cron or every, not both, and this one has cron ${shown(cron)} and every ${shown(every)}: leave one of them out`,
    );
  if (every !== null) {
    if (timeZone !== 'UTC')
      throw new InvalidScheduleError(
        `timeZone does not apply to every, which no clock affects: leave out ${shown(timeZone)}`,
      );
    return { cron, timeZone, every, anchor: anchor ?? new Date(0) };
  }
  if (cron === null)
    throw new InvalidScheduleError(
      'A schedule needs cron, such as "30 2 * * *" for 02:30 every night, or every, such as "90 s"',
    );
  if (anchor !== null)
    throw new InvalidScheduleError('anchor belongs to every: leave it out, or write every instead of cron');
  return { cron, timeZone, every, anchor };
}

function timesOf({ cron, timeZone, every, anchor }: StoredSchedule): Times {
  return every === null
    ? new CronTimes(cron ?? '', timeZone)
    : new IntervalTimes(every, anchor ?? new Date(0));
}

/** Takes up to `count` elements from an iterator. */
function firstOf<Element>(iterator: Iterator<Element, undefined>, count: number): Element[] {
  const elements: Element[] = [];
  while (elements.length < count) {
    const { done, value } = iterator.next();
    if (done === true) break;
    elements.push(value);
  }
  return elements;
}

/**
 * Returns the next due times of a schedule, for example for a preview. Needs no storage. Returns fewer than `count` if
 * there are no more until the year 9999, or none within 50 years.
 *
 * @param count 1 to 1000
 * @param after the time after which to start; now by default
 * @throws {InvalidScheduleError} if not exactly one of `cron` and `every` is set, if a value is invalid, or if no time matches
 *   the cron expression
 * @throws {RangeError} if `count` or `after` is out of bounds
 * @throws {TypeError} if `schedule` is not an object
 */
export function nextOccurrences(schedule: ScheduleOptions, count: number, after: Date = new Date()): Date[] {
  // A recurring job is a schedule, too, so other members are allowed.
  if (typeof schedule !== 'object' || schedule === null)
    throw new TypeError(
      `nextOccurrences needs a schedule, such as { cron: '@daily' } or { every: '90 s' }, not ${shown(schedule)}`,
    );
  checkInteger('count', count, { min: 1, max: 1_000 });
  checkTime('after', after);
  return new Schedule(schedule).upcoming(count, after);
}
