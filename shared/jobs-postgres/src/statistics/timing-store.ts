import { randomUUID } from 'node:crypto';
import {
  otherNames,
  type Timing,
  type TimingBuffer,
  type TimingCell,
  timingsKept,
} from '@longshore/jobs/storage';
import { arrayOf } from '../connection/array-literal.js';
import type { Database } from '../connection/database.js';
import type { QueueIdCache } from '../queues/queue-id-cache.js';
import { addTimings, addTimedNames, measureBacklog, measureNames, selectReadyPages } from './timings.sql.js';

/** Queue id of the timings of all queues together. */
export const allQueues = 0;

/** Job name of the timings of all jobs together. */
export const allNames = '';

const namesCheckedEveryMs = 3_600_000;
const minuteMs = 60_000;

/** Maximum number of pages to read when sampling the ready and blocked jobs. */
const samplePages = 2_000;

interface Row {
  readonly queueId: number;
  readonly name: string;
  readonly seconds: number;
  readonly at: number;
  readonly timing: Timing;
}

/**
 * Adds recorded timings to those in the database, and measures the backlog once a minute. If the connection breaks, the
 * same batch is sent again. The database stores the number of the last batch, so no batch is added twice.
 */
export class TimingStore {
  readonly #database: Database;
  readonly #queues: QueueIdCache;
  readonly #id = randomUUID();
  #batches = 0;
  /** Parameters of the last batch until its addition is confirmed; `null` if no confirmation is pending. */
  #sent: unknown[] | null = null;
  /**
   * Settles when the previous call of {@link addFrom} has ended. Each call waits for it, so that batches are added in
   * the order of their numbers.
   */
  #idle: Promise<unknown> = Promise.resolve();
  /** Maps a job name to whether its timings are stored under that name. If not, they are stored under `otherNames`. */
  readonly #timedNames = new Map<string, boolean>();
  #namesKnownUntil = 0;
  #measuredMinute = 0;

  constructor(database: Database, queues: QueueIdCache) {
    this.#database = database;
    this.#queues = queues;
  }

  /**
   * Adds the buffer's timings to those in the database. Returns whether the buffer contained any. If the promise
   * rejects, the timings are back in the buffer or will be sent again by the next call.
   */
  addFrom(buffer: TimingBuffer): Promise<boolean> {
    const added = this.#idle.then(() => this.#addFrom(buffer));
    this.#idle = added.catch(() => undefined);
    return added;
  }

  async #addFrom(buffer: TimingBuffer): Promise<boolean> {
    await this.#finish();
    const cells = buffer.take();
    if (cells.length === 0) return false;
    try {
      this.#sent = await this.#batchOf(cells);
    } catch (error) {
      buffer.restore(cells);
      throw error;
    }
    await this.#finish();
    return true;
  }

  async #finish(): Promise<void> {
    if (this.#sent === null) return;
    await this.#database.query(addTimings, this.#sent);
    this.#sent = null;
  }

  /** Returns the parameters of {@link addTimings} for a new batch. */
  async #batchOf(cells: readonly TimingCell[]): Promise<unknown[]> {
    await this.#addNames(new Set(cells.map(({ name }) => name)));
    const rows = new Map<string, Row>();
    for (const { queue, name, minute, timing } of cells) {
      const queueId = await this.#queues.idOf(queue);
      const kept = this.#timedNames.get(name) === true ? name : otherNames;
      for (const [id, named] of places(queueId, kept))
        for (const { bucketMs } of [timingsKept.minute, timingsKept.hour]) {
          const at = Math.floor(minute / bucketMs) * bucketMs;
          const key = `${id} ${named} ${bucketMs} ${at}`;
          const row = rows.get(key);
          if (row === undefined)
            rows.set(key, { queueId: id, name: named, seconds: bucketMs / 1_000, at, timing: timing.copy() });
          else row.timing.merge(timing);
        }
    }
    return [this.#id, ++this.#batches, ...columnsOf([...rows.values()].toSorted(byKey))];
  }

  /** Measures the backlog, unless a server has already measured it in this minute. */
  async measureBacklog(nowMs: number): Promise<void> {
    const minute = Math.floor(nowMs / minuteMs);
    if (minute === this.#measuredMinute) return;
    this.#measuredMinute = minute;
    const [first] = await this.#database.query(measureBacklog);
    if (first === undefined) return; // another server has already measured the backlog in this minute
    const [size] = await this.#database.query<{ pages: number }>(selectReadyPages);
    const share = Math.min(100, (100 * samplePages) / Math.max(1, size?.pages ?? 0));
    await this.#database.query(measureNames, [share]);
  }

  async #addNames(names: ReadonlySet<string>): Promise<void> {
    if (performance.now() > this.#namesKnownUntil) {
      this.#timedNames.clear();
      this.#namesKnownUntil = performance.now() + namesCheckedEveryMs;
    }
    const unknown = [...names].filter((name) => !this.#timedNames.has(name));
    if (unknown.length === 0) return;
    const rows = await this.#database.query<{ name: string }>(addTimedNames, [unknown, timingsKept.names]);
    const timed = new Set(rows.map(({ name }) => name));
    for (const name of unknown) this.#timedNames.set(name, timed.has(name));
  }
}

function columnsOf(rows: readonly Row[]): unknown[] {
  const timings = rows.map(({ timing }) => timing);
  return [
    arrayOf(rows.map(({ queueId }) => queueId)),
    rows.map(({ name }) => name),
    arrayOf(rows.map(({ seconds }) => seconds)),
    arrayOf(rows.map(({ at }) => at)),
    arrayOf(timings.map(({ done }) => done)),
    arrayOf(timings.map(({ failed }) => failed)),
    arrayOf(timings.map(({ retried }) => retried)),
    timings.map(({ waiting }) => literalOf(waiting)),
    timings.map(({ ready }) => literalOf(ready)),
    timings.map(({ running }) => literalOf(running)),
    arrayOf(timings.map(({ waiting }) => waiting.sumMs)),
    arrayOf(timings.map(({ ready }) => ready.sumMs)),
    arrayOf(timings.map(({ running }) => running.sumMs)),
  ];
}

function places(queueId: number, name: string): [queueId: number, name: string][] {
  return [
    [allQueues, allNames],
    [allQueues, name],
    [queueId, allNames],
    [queueId, name],
  ];
}

function literalOf(histogram: Timing['waiting']): string {
  const { first, counts } = histogram.counts();
  return counts.length === 0 ? '{}' : arrayOf([first, ...counts]);
}

function byKey(one: Row, other: Row): number {
  if (one.queueId !== other.queueId) return one.queueId - other.queueId;
  if (one.name !== other.name) return one.name < other.name ? -1 : 1;
  return one.seconds - other.seconds || one.at - other.at;
}
