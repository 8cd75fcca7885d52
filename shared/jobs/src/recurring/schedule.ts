import { nextTurn, turnIsOver } from '@longshore/edge';
import { brand } from '@longshore/edge';
import { CronExpression, CronSyntaxError } from './cron-expression.js';
import { shown } from '../job/shown.js';
import { checkInteger, checkTime, timeBounds } from '../job/bounds.js';
import { TimeZone, type WallTime } from './time-zone.js';

const secondMs = 1_000;

/** No clock is ahead of or behind UTC by more than this, or set forward or back by more. */
const longestChangeMs = 26 * 3_600_000;

/**
 * A schedule with no time within this period has none. Fifth Mondays in February can be 40 years apart, and the times of
 * an interval may lie in the gap of each spring.
 */
const horizonMs = 50 * 365.25 * 86_400_000;

/** Maximum length of a cron expression, in characters: enough for lists in all of its fields. */
const maxLength = 1_000;

/**
 * Thrown if a cron expression or a time zone is invalid, or if no time matches the expression. The message explains how
 * to correct it.
 */
export class InvalidScheduleError extends RangeError {
  static {
    brand(this, 'InvalidScheduleError');
  }

  override readonly name = 'InvalidScheduleError';
}

/**
 * The times that match a cron expression in a time zone, in whole seconds, from 1970 to 9999.
 *
 * Unless a `*` or a step selects several seconds, minutes or hours, the expression keeps its times of day when the clock is set forward or back: each matching time has one occurrence, the first moment at which the clock shows
 * this time or a later one. A skipped time therefore moves to the end of the gap, even if that is on the next day, and a
 * repeated time counts only once, at its first occurrence.
 *
 * Otherwise, the expression is an interval. It matches whenever the clock shows a matching time, so its times are evenly
 * spaced, even in the repeated hour.
 *
 * Whatever the expression and the time zone, finding a time examines the clock for some days around each candidate, of
 * which there are a few: changes of the clock in between make no difference.
 */
export class Schedule {
  readonly #cron: CronExpression;
  readonly #zone: TimeZone;

  /**
   * @param cron five fields (minute, hour, day of the month, month, day of the week), six that start with the seconds, or
   *   a nickname such as `@daily`
   * @param timeZone an IANA time zone, such as `Europe/Berlin`; `UTC` by default
   * @throws {InvalidScheduleError} if the cron expression or the time zone is invalid, or if no time matches
   */
  constructor(cron: string, timeZone = 'UTC') {
    checkFields(cron);
    this.#zone = zoneOf(timeZone);
    try {
      this.#cron = new CronExpression(cron);
    } catch (error) {
      if (!(error instanceof CronSyntaxError)) throw error;
      throw new InvalidScheduleError(
        `"${cron}" is not a cron expression: ${error.message}. Write "minute hour day month weekday", such as "30 2 * * *" for 02:30 every night, or a nickname such as "@daily"`,
        { cause: error },
      );
    }
    if (this.#cron.nearest(0, 1) === undefined) {
      throw new InvalidScheduleError(`"${cron}" matches no date. Correct its day of the month or its month`);
    }
  }

  /** Returns the first matching time later than `after`; `null` if there is none within 50 years. */
  next(after: Date): Date | null {
    const [first = null] = this.upcoming(1, after);
    return first;
  }

  /** Returns the first `count` matching times later than `after`, in ascending order; fewer if there are no more. */
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

  /** Iterates over the matching times later than a time, in ascending order. Each is found when it is asked for. */
  after(time: Date): Generator<Date, undefined> {
    const from = Math.floor(time.getTime() / secondMs) * secondMs + secondMs;
    return this.#from(Math.max(from, timeBounds.min), 1, timeBounds.max);
  }

  /**
   * Returns the last `count` matching times from `from` to `until`, both inclusive, in ascending order; fewer if there
   * are not that many.
   */
  latest(count: number, from: Date, until: Date): Date[] {
    const start = Math.floor(Math.min(until.getTime(), timeBounds.max) / secondMs) * secondMs;
    return firstOf(this.#from(start, -1, Math.max(from.getTime(), timeBounds.min)), count).toReversed();
  }

  /** Iterates over the matching times from `start` on, in one direction, none beyond `end`. */
  *#from(start: number, direction: 1 | -1, end: number): Generator<Date, undefined> {
    let time = this.#nearest(start, direction, end);
    while (time !== undefined && (end - time) * direction >= 0) {
      yield new Date(time);
      time = this.#nearest(time + direction * secondMs, direction, end);
    }
  }

  #nearest(time: number, direction: 1 | -1, end: number): number | undefined {
    return this.#cron.isFixed
      ? this.#nearestFixed(time, direction)
      : this.#nearestInInterval(time, direction, end);
  }

  #nearestFixed(time: number, direction: 1 | -1): number | undefined {
    // A time has come by now if the clock has ever shown it or a later one.
    const wall =
      direction === 1
        ? this.#cron.nearest(this.#latestShown(time - secondMs) + secondMs, 1)
        : this.#cron.nearest(this.#latestShown(time), -1);
    return wall === undefined ? undefined : this.#firstReaching(wall);
  }

  /** Returns the latest time that the clock has shown by `time`; later than it shows now in a repeated hour. */
  #latestShown(time: number): WallTime {
    const before = this.#zone.changesBetween(time - longestChangeMs, time).map((change) => change - secondMs);
    return Math.max(...[...before, time].map((moment) => moment + this.#zone.offsetAt(moment)));
  }

  /** Returns the first moment at which the clock shows this time or a later one. */
  #firstReaching(wall: WallTime): number {
    const earliest = wall - longestChangeMs;
    const starts = [earliest, ...this.#zone.changesBetween(earliest, wall + longestChangeMs)];
    for (const [index, start] of starts.entries()) {
      const time = Math.max(start, wall - this.#zone.offsetAt(start));
      if (time < (starts[index + 1] ?? Infinity)) return time;
    }
    throw new Error(`the clock never reaches ${wall}`);
  }

  #nearestInInterval(start: number, direction: 1 | -1, end: number): number | undefined {
    const last = start + direction * horizonMs;
    let moment = start;
    while ((end - moment) * direction >= 0 && (last - moment) * direction >= 0) {
      const offset = this.#zone.offsetAt(moment);
      const wall = this.#cron.nearest(moment + offset, direction);
      if (wall === undefined) return undefined;
      const time = wall - offset;
      // Beyond `near`, the clock shows no time again that it has shown by `moment`, and no change matters before `wall`.
      const near = moment + direction * 2 * longestChangeMs;
      const isNear = (near - time) * direction >= 0;
      const change = this.#changeOnTheWay(moment, isNear ? time : near, direction);
      if (change !== undefined) moment = direction === 1 ? change : change - secondMs;
      else if (isNear) return time;
      else moment = furthest(direction, near, wall - direction * longestChangeMs);
    }
    return undefined;
  }

  /** Returns the first change of the clock between two moments, in one direction. */
  #changeOnTheWay(from: number, to: number, direction: 1 | -1): number | undefined {
    return direction === 1
      ? this.#zone.changesBetween(from, to)[0]
      : this.#zone.changesBetween(to, from).at(-1);
  }
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

/** Returns the later of two times if the direction is 1, the earlier one otherwise. */
function furthest(direction: 1 | -1, one: number, other: number): number {
  return direction === 1 ? Math.max(one, other) : Math.min(one, other);
}

/** A cron expression, and the IANA time zone that it applies in; `UTC` by default. */
export interface ScheduleOptions {
  readonly cron: string;
  readonly timeZone?: string;
}

/**
 * Returns the next due times of a schedule, for example for a preview. Needs no storage. Returns fewer than `count` if
 * there are no more until the year 9999, or none within 50 years.
 *
 * @param count 1 to 1000
 * @param after the time after which to start; now by default
 * @throws {InvalidScheduleError} if the cron expression or the time zone is invalid, or if no time matches
 * @throws {RangeError} if `count` or `after` is out of bounds
 * @throws {TypeError} if `schedule` is not an object
 */
export function nextOccurrences(schedule: ScheduleOptions, count: number, after: Date = new Date()): Date[] {
  // A recurring job is a schedule, too, so other members are allowed.
  if (typeof schedule !== 'object' || schedule === null)
    throw new TypeError(
      `nextOccurrences needs a schedule, such as { cron: '@daily' }, not ${shown(schedule)}`,
    );
  const { cron, timeZone = 'UTC' } = schedule;
  checkInteger('count', count, { min: 1, max: 1_000 });
  checkTime('after', after);
  return new Schedule(cron, timeZone).upcoming(count, after);
}

/** @throws {InvalidScheduleError} if the cron expression or the time zone is invalid, or if no time matches */
export function checkSchedule(cron: string, timeZone: string): Schedule {
  return new Schedule(cron, timeZone);
}

function checkFields(cron: string): void {
  if (typeof cron !== 'string')
    throw new InvalidScheduleError(
      `cron must be a cron expression such as "30 2 * * *" for 02:30 every night, not ${shown(cron)}`,
    );
  if (cron.length > maxLength)
    throw new InvalidScheduleError(
      `a cron expression has up to ${maxLength} characters, not ${cron.length}; write ranges instead of long lists`,
    );
  const fields = cron.trim().split(/\s+/).filter(Boolean).length;
  if (fields === 5 || fields === 6 || cron.trim().startsWith('@')) return;
  throw new InvalidScheduleError(
    `"${cron}" has ${fields} fields; a cron expression has 5 (minute hour day month weekday), or 6 with the seconds first, such as "0 30 2 * * *"; nicknames such as "@daily" are also allowed`,
  );
}

function zoneOf(name: string): TimeZone {
  try {
    // Intl would take other values for their text: `undefined` for the time zone of this machine.
    if (typeof name !== 'string') throw new TypeError('not a string');
    return TimeZone.of(name);
  } catch (error) {
    throw new InvalidScheduleError(
      `${shown(name)} is not a time zone; use an IANA name such as "UTC" or "Europe/Berlin"`,
      { cause: error },
    );
  }
}
