import { shown } from '../job/shown.js';
import { CronExpression, CronSyntaxError } from './cron-expression.js';
import { InvalidScheduleError } from './invalid-schedule.js';
import { longestChangeMs, TimeZone, type WallTime } from './time-zone.js';

const secondMs = 1_000;

/**
 * A cron expression with no time within this period has none. Fifth Mondays in February can be 40 years apart, and evenly
 * spaced times may all lie in the gap of each spring.
 */
const horizonMs = 50 * 365.25 * 86_400_000;

/** Maximum length of a cron expression, in characters: enough for lists in all of its fields. */
const maxLength = 1_000;

/**
 * The times that match a cron expression in a time zone, in whole seconds.
 *
 * Unless a `*` or a step selects several seconds, minutes or hours, the expression keeps its times of day when the clock is
 * set forward or back: each matching time has one occurrence, the first moment at which the clock shows this time or a later
 * one. A skipped time therefore moves to the end of the gap, even if that is on the next day, and a repeated time counts only
 * once, at its first occurrence.
 *
 * Otherwise, the expression matches whenever the clock shows a matching time, so its times are evenly spaced, even in the
 * repeated hour.
 *
 * Whatever the expression and the time zone, finding a time examines the clock for some days around each candidate, of
 * which there are a few: changes of the clock in between make no difference.
 */
export class CronTimes {
  readonly #cron: CronExpression;
  readonly #zone: TimeZone;

  /** @throws {InvalidScheduleError} if the cron expression or the time zone is invalid, or if no time matches */
  constructor(cron: string, timeZone: string) {
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

  /**
   * Returns the nearest time at or after `time` (`direction` 1), or at or before it (−1); `undefined` if there is none within
   * 50 years. A time beyond `end` may count as none.
   *
   * @param time a whole second
   */
  nearest(time: number, direction: 1 | -1, end: number): number | undefined {
    return this.#cron.isFixed
      ? this.#nearestFixed(time, direction)
      : this.#nearestEvenlySpaced(time, direction, end);
  }

  #nearestFixed(time: number, direction: 1 | -1): number | undefined {
    // A time has come by now if the clock has ever shown it or a later one.
    const wall =
      direction === 1
        ? this.#cron.nearest(this.#latestShown(time - secondMs) + secondMs, 1)
        : this.#cron.nearest(this.#latestShown(time), -1);
    return wall === undefined ? undefined : this.#zone.firstReaching(wall);
  }

  /**
   * Returns whether a time was moved, because the clock was set forward then and never showed the time that the expression
   * names. Always false for expressions whose times are evenly spaced.
   *
   * @param time one of the times, as {@link nearest} returns them
   */
  isMoved(time: number): boolean {
    const wall = time + this.#zone.offsetAt(time);
    return this.#cron.isFixed && this.#cron.nearest(wall, 1) !== wall;
  }

  /** Returns the latest time that the clock has shown by `time`; later than it shows now in a repeated hour. */
  #latestShown(time: number): WallTime {
    const before = this.#zone.changesBetween(time - longestChangeMs, time).map((change) => change - secondMs);
    return Math.max(...[...before, time].map((moment) => moment + this.#zone.offsetAt(moment)));
  }

  #nearestEvenlySpaced(start: number, direction: 1 | -1, end: number): number | undefined {
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

/** Returns the later of two times if the direction is 1, the earlier one otherwise. */
function furthest(direction: 1 | -1, one: number, other: number): number {
  return direction === 1 ? Math.max(one, other) : Math.min(one, other);
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
