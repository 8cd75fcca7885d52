import type { Clock } from '@longshore/jobs/storage';
import type { Database } from './database.js';
import { prepared } from './statement.js';

/** Selects the database's time in milliseconds since 1970. */
export const selectClock = prepared(
  'longshore-select-clock',
  'select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms',
);

/**
 * Maximum age of a clock reading, in milliseconds. Also how far a reported time can be behind the expected time before
 * the clock is read again.
 */
const freshForMs = 60_000;

/** How far a reported time can be ahead of the expected time before the clock is read again, in milliseconds. */
const maxAheadMs = 1_000;

/**
 * The database's clock. Between readings, the time is extrapolated with this process's monotonic clock, because the
 * machine's wall clock can be wrong or jump.
 */
export class DatabaseClock implements Clock {
  readonly #database: Database;
  /** The database's time minus the monotonic time, in milliseconds. */
  #offsetMs: number | undefined;
  #readAt = -Infinity;
  #reading: Promise<number> | undefined;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Returns the time in milliseconds since 1970. Before the first reading, this is the machine's time. */
  now(): number {
    return this.#offsetMs === undefined ? Date.now() : Math.floor(performance.now() + this.#offsetMs);
  }

  /** Returns the database's time, extrapolated from a reading that is at most a minute old. */
  async fresh(): Promise<Date> {
    if (performance.now() - this.#readAt > freshForMs) await this.read();
    return new Date(this.now());
  }

  /**
   * Reads the database's clock and returns its time in milliseconds since 1970. Assumes that Postgres read the clock
   * halfway between request and response, as NTP does (RFC 5905 § 8). Concurrent calls share one reading.
   */
  read(): Promise<number> {
    this.#reading ??= this.#read().finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  /** Reads the clock again if a time just reported by Postgres is more than a second ahead or a minute behind. */
  observe(time: Date): void {
    const ahead = time.getTime() - this.now();
    // A failed reading is ignored, because the next call tries again.
    if (ahead > maxAheadMs || ahead < -freshForMs) this.read().catch(() => undefined);
  }

  async #read(): Promise<number> {
    const sentAt = performance.now();
    const [row] = await this.#database.query<{ ms: number }>(selectClock);
    if (row === undefined) throw new Error('The database did not return its time');
    this.#readAt = performance.now();
    this.#offsetMs = row.ms - (sentAt + this.#readAt) / 2;
    return row.ms;
  }
}
