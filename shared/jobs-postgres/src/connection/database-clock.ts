import type { Clock } from '@longshore/jobs';
import type { Database } from './database.js';
import { prepared } from './statement.js';

/** In milliseconds since 1970. */
export const selectClock = prepared(
  'longshore-select-clock',
  'select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms',
);

/** It is read again after this time, in milliseconds, for what must know the day. */
const freshForMs = 60_000;

/** By so much, in milliseconds, what Postgres answers may differ from what was expected before the clock is read again. */
const mayDifferMs = 1_000;

/**
 * The clock of the database, by which all stored times are measured. It is read now and then, and goes on in between by the
 * monotonic clock of this process, which nobody sets: that of the machine may be off by a year, or jump.
 */
export class DatabaseClock implements Clock {
  readonly #database: Database;
  /** The offset from the monotonic clock to the database's clock. */
  #offsetMs: number | undefined;
  #readAt = -Infinity;
  #reading: Promise<number> | undefined;

  constructor(database: Database) {
    this.#database = database;
  }

  /** As far as it is known. Until it has been read for the first time, that of the machine stands in for it. */
  now(): number {
    return this.#offsetMs === undefined ? Date.now() : Math.floor(performance.now() + this.#offsetMs);
  }

  /** The time, from a reading of the last minute. */
  async fresh(): Promise<Date> {
    if (performance.now() - this.#readAt > freshForMs) await this.read();
    return new Date(this.now());
  }

  /** Reads it now. Taken to have been read halfway between question and answer, as in NTP (RFC 5905 § 8). */
  read(): Promise<number> {
    this.#reading ??= this.#read().finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  /** Postgres said in its latest answer that it was then. Reads the clock again if that cannot be. */
  noticed(time: Date): void {
    const ahead = time.getTime() - this.now();
    if (ahead > mayDifferMs || ahead < -freshForMs) this.read().catch(() => undefined); // the next answer will tell again
  }

  async #read(): Promise<number> {
    const askedAt = performance.now();
    const [row] = await this.#database.query<{ ms: number }>(selectClock);
    if (row === undefined) throw new Error('The database does not tell its time');
    this.#readAt = performance.now();
    this.#offsetMs = row.ms - (askedAt + this.#readAt) / 2;
    return row.ms;
  }
}
