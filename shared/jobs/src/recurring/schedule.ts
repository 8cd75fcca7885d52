import { Cron } from 'croner';

/** A cron expression or a time zone that cannot be used. The message says what to write instead. */
export class InvalidScheduleError extends RangeError {
  override readonly name = 'InvalidScheduleError';
}

/**
 * The times that a cron expression means in a time zone. They are whole seconds and do not depend on any clock.
 *
 * When clocks change, an expression whose seconds, minutes and hours are plain numbers, lists or ranges keeps its times of the day:
 * one that the change jumps over comes at the first moment after the gap, one that occurs twice comes the first time
 * only. An expression with a `*` or a step in one of them is an interval: it goes on evenly, through a repeated hour too.
 */
export class Schedule {
  readonly #cron: Cron;

  /**
   * @param cron five fields (minute, hour, day of the month, month, day of the week), or six with the seconds first
   * @param timeZone of the IANA database: `UTC`, `Europe/Berlin`
   * @throws {InvalidScheduleError} if it is not understood, or if no time fits it
   */
  constructor(cron: string, timeZone = 'UTC') {
    checkFields(cron);
    checkTimeZone(timeZone);
    try {
      this.#cron = new Cron(cron, { timezone: timeZone, mode: '5-or-6-parts', fixedTimeRule: 'no-wildcard' });
    } catch (error) {
      const reason = (error as Error).message.replace(/^CronPattern: /, '');
      throw new InvalidScheduleError(
        `"${cron}" is not a cron expression: ${reason}. Write "minute hour day month weekday", as "30 2 * * *" for half past two every night`,
        { cause: error },
      );
    }
    if (this.#cron.nextRun(new Date(0)) === null) {
      throw new InvalidScheduleError(
        `"${cron}" never comes: no day fits it. Correct its day of the month or its month`,
      );
    }
  }

  /** The first time after this one; `null` if none follows. */
  next(after: Date): Date | null {
    return this.#cron.nextRun(after);
  }

  /** The next `count` times after this one, the first first. */
  upcoming(count: number, after: Date): Date[] {
    return this.#cron.nextRuns(count, after);
  }

  /** The last `count` times from `from` to `until`, both included, the first first. */
  latest(count: number, from: Date, until: Date): Date[] {
    const end = new Date(Math.floor(until.getTime() / 1_000) * 1_000 + 1_000); // croner leaves the end out
    return this.#cron
      .previousRuns(count, end)
      .filter((time) => time >= from)
      .toReversed();
  }
}

/**
 * The next times of a schedule, without any storage: for a preview.
 *
 * @param count 1 to 1000
 * @param after now, unless given
 * @throws {InvalidScheduleError} if the expression or the zone cannot be used
 * @throws {RangeError} if `count` is out of its bounds
 */
export function nextOccurrences(
  { cron, timeZone = 'UTC' }: { readonly cron: string; readonly timeZone?: string },
  count: number,
  after: Date = new Date(),
): Date[] {
  if (!Number.isInteger(count) || count < 1 || count > 1_000) {
    throw new RangeError(`count is an integer from 1 to 1000, not ${count}`);
  }
  return new Schedule(cron, timeZone).upcoming(count, after);
}

/** @throws {InvalidScheduleError} if the expression or the zone cannot be used */
export function checkSchedule(cron: string, timeZone: string): Schedule {
  return new Schedule(cron, timeZone);
}

function checkFields(cron: string): void {
  const fields = cron.trim().split(/\s+/).filter(Boolean).length;
  if (fields === 5 || fields === 6 || cron.startsWith('@')) return;
  throw new InvalidScheduleError(
    `"${cron}" has ${fields} fields; a cron expression has 5 (minute hour day month weekday), or 6 with the seconds first, as "0 30 2 * * *"`,
  );
}

function checkTimeZone(timeZone: string): void {
  try {
    Intl.DateTimeFormat('en', { timeZone });
  } catch (error) {
    throw new InvalidScheduleError(
      `"${timeZone}" is no time zone; use a name of the IANA database, as "UTC" or "Europe/Berlin"`,
      { cause: error },
    );
  }
}
