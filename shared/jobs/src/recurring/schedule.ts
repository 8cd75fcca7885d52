import { brand } from '../job/brand.js';
import { Cron } from 'croner';

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
 * The times that match a cron expression in a time zone, in whole seconds.
 *
 * If the seconds, minutes and hours are all plain numbers, lists or ranges, the expression keeps its times of day when
 * daylight saving time starts or ends. A skipped time moves to the end of the gap. A repeated time counts only once, at
 * its first occurrence.
 *
 * With a `*` or a step in one of these fields, the expression is an interval. Its times are evenly spaced, even in the
 * repeated hour.
 */
export class Schedule {
  readonly #cron: Cron;

  /**
   * @param cron five fields (minute, hour, day of the month, month, day of the week), six that start with the seconds, or
   *   a nickname such as `@daily`
   * @param timeZone an IANA time zone, such as `Europe/Berlin`; `UTC` by default
   * @throws {InvalidScheduleError} if the cron expression or the time zone is invalid, or if no time matches
   */
  constructor(cron: string, timeZone = 'UTC') {
    checkFields(cron);
    checkTimeZone(timeZone);
    try {
      this.#cron = new Cron(cron, { timezone: timeZone, mode: '5-or-6-parts', fixedTimeRule: 'no-wildcard' });
    } catch (error) {
      const reason = (error as Error).message.replace(/^CronPattern: |\.$/g, '');
      throw new InvalidScheduleError(
        `"${cron}" is not a cron expression: ${reason}. Write "minute hour day month weekday", such as "30 2 * * *" for 02:30 every night, or a nickname such as "@daily"`,
        { cause: error },
      );
    }
    if (this.#cron.nextRun(new Date(0)) === null) {
      throw new InvalidScheduleError(`"${cron}" matches no date. Correct its day of the month or its month`);
    }
  }

  /** Returns the first matching time later than `after`; `null` if there is none. */
  next(after: Date): Date | null {
    return this.#cron.nextRun(after);
  }

  /** Returns the first `count` matching times later than `after`, in ascending order; fewer if there are no more. */
  upcoming(count: number, after: Date): Date[] {
    return this.#cron.nextRuns(count, after);
  }

  /**
   * Returns the last `count` matching times from `from` to `until`, both inclusive, in ascending order; fewer if there
   * are not that many.
   */
  latest(count: number, from: Date, until: Date): Date[] {
    const end = new Date(Math.floor(until.getTime() / 1_000) * 1_000 + 1_000); // croner excludes the end
    return this.#cron
      .previousRuns(count, end)
      .filter((time) => time >= from)
      .toReversed();
  }
}

/**
 * Returns the next due times of a schedule, for example for a preview. Needs no storage.
 *
 * @param count 1 to 1000
 * @param after the time after which to start; now by default
 * @throws {InvalidScheduleError} if the cron expression or the time zone is invalid, or if no time matches
 * @throws {RangeError} if `count` is out of bounds
 */
export function nextOccurrences(
  { cron, timeZone = 'UTC' }: { readonly cron: string; readonly timeZone?: string },
  count: number,
  after: Date = new Date(),
): Date[] {
  if (!Number.isInteger(count) || count < 1 || count > 1_000) {
    throw new RangeError(`count must be an integer from 1 to 1000, not ${count}`);
  }
  return new Schedule(cron, timeZone).upcoming(count, after);
}

/** @throws {InvalidScheduleError} if the cron expression or the time zone is invalid, or if no time matches */
export function checkSchedule(cron: string, timeZone: string): Schedule {
  return new Schedule(cron, timeZone);
}

function checkFields(cron: string): void {
  const fields = cron.trim().split(/\s+/).filter(Boolean).length;
  if (fields === 5 || fields === 6 || cron.trim().startsWith('@')) return;
  throw new InvalidScheduleError(
    `"${cron}" has ${fields} fields; a cron expression has 5 (minute hour day month weekday), or 6 with the seconds first, such as "0 30 2 * * *"; nicknames such as "@daily" are also allowed`,
  );
}

function checkTimeZone(timeZone: string): void {
  try {
    Intl.DateTimeFormat('en', { timeZone });
  } catch (error) {
    throw new InvalidScheduleError(
      `"${timeZone}" is not a time zone; use an IANA name such as "UTC" or "Europe/Berlin"`,
      { cause: error },
    );
  }
}
