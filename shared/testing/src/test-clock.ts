import { isTime, shown } from '@longshore/jobs/storage';

/**
 * A clock that moves only when the test advances it. Pass it to a `MemoryStorage` to control the time of the storage.
 */
export class TestClock {
  #nowMs: number;

  /**
   * Creates a clock that starts at `start`, by default 2026-01-01T00:00:00Z.
   *
   * @throws {RangeError} if `start` is not a time
   */
  constructor(start: Date | string = '2026-01-01T00:00:00Z') {
    this.#nowMs = timeOf(start);
  }

  /** Returns milliseconds since 1970, as `Date.now()` does. */
  readonly now = (): number => this.#nowMs;

  /**
   * Moves the clock forward by `ms` milliseconds.
   *
   * @throws {RangeError} if `ms` is not a number of milliseconds, or is negative
   */
  advance(ms: number): void {
    if (!Number.isFinite(ms) || ms < 0)
      throw new RangeError(`A clock advances by 0 or more milliseconds, not ${shown(ms)}`);
    if (!isTime(this.#nowMs + ms)) throw new RangeError('A clock cannot advance beyond the year 9999');
    this.#nowMs += ms;
  }

  /**
   * Moves the clock forward to `time`.
   *
   * @throws {RangeError} if `time` is before the clock's time or not a time
   */
  advanceTo(time: Date | string): void {
    this.advance(timeOf(time) - this.#nowMs);
  }
}

function timeOf(time: Date | string): number {
  const isReadable = time instanceof Date || typeof time === 'string';
  const ms = isReadable ? new Date(time).getTime() : Number.NaN;
  if (!isTime(ms))
    throw new RangeError(
      `${shown(time)} is not a time from 1970 to 9999: give a Date, or text such as 2026-01-01T00:00:00Z`,
    );
  return ms;
}
