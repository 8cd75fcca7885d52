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

/** How much faster than the database's clock this process's monotonic clock may run: the fastest slewing of NTP. */
const maxDrift = 0.0005;

/** Returns milliseconds that only this process's uptime determines. */
type Monotonic = () => number;

/** A time that the database's clock had reached at a moment of the monotonic clock, both in milliseconds. */
interface Reached {
  readonly ms: number;
  readonly atMs: number;
}

/**
 * The database's clock. Between readings, the time is extrapolated with this process's monotonic clock, because the
 * machine's wall clock can be wrong or jump.
 *
 * The extrapolated time is never ahead of the database: it starts from a time that the database had reached, and
 * advances a little more slowly. So the time in an id, which is what HTTP shows as `createdAt`, is never after the times
 * that the database then stores with the job. Every answer with a later time brings the clock closer to the database's.
 */
export class DatabaseClock implements Clock {
  readonly #database: Pick<Database, 'query'>;
  readonly #monotonic: Monotonic;
  #reached: Reached | undefined;
  #readAtMs = -Infinity;
  /** When the last attempt to read the clock began. */
  #triedAtMs = -Infinity;
  #reading: Promise<number> | undefined;

  constructor(database: Pick<Database, 'query'>, monotonic: Monotonic = () => performance.now()) {
    this.#database = database;
    this.#monotonic = monotonic;
  }

  /**
   * Returns the time in milliseconds since 1970. Before the first reading, this is the machine's time. Has the clock
   * read again, without waiting for that, if the last reading is a minute old.
   */
  now(): number {
    if (this.#reached === undefined) return Date.now();
    const monotonicMs = this.#monotonic();
    // A failed reading is ignored, because it is tried again a minute later.
    if (monotonicMs - Math.max(this.#readAtMs, this.#triedAtMs) > freshForMs)
      this.read().catch(() => undefined);
    const { ms, atMs } = this.#reached;
    return Math.floor(ms + (monotonicMs - atMs) * (1 - maxDrift));
  }

  /** Returns the database's time, extrapolated from a reading that is at most a minute old. */
  async fresh(): Promise<Date> {
    if (this.#monotonic() - this.#readAtMs > freshForMs) await this.read();
    return new Date(this.now());
  }

  /** Reads the database's clock and returns its time in milliseconds since 1970. Concurrent calls share one reading. */
  read(): Promise<number> {
    this.#triedAtMs = this.#monotonic();
    this.#reading ??= this.#read().finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  /**
   * Takes notice of a time that the database has just reported. Reads the clock again if the time is more than a second
   * ahead or a minute behind.
   */
  observe(time: Date): void {
    const ahead = time.getTime() - this.now();
    // A failed reading is ignored, because the next call tries again.
    if (ahead > maxAheadMs || ahead < -freshForMs) this.read().catch(() => undefined);
    else if (ahead > 0) this.#reached = { ms: time.getTime(), atMs: this.#monotonic() };
  }

  async #read(): Promise<number> {
    const [row] = await this.#database.query<{ ms: number }>(selectClock);
    if (row === undefined) throw new Error('The database did not return its time');
    this.#readAtMs = this.#monotonic();
    this.#reached = { ms: row.ms, atMs: this.#readAtMs };
    return row.ms;
  }
}
