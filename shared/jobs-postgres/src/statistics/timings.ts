import {
  type DurationHistogram,
  emptyTimingBuckets,
  type HistoryBucket,
  type HistoryQuery,
  historyStart,
  type NameTiming,
  type NameTimingQuery,
  type Outcome,
  resolutionOf,
  Timing,
  type TimingBucket,
  TimingBuffer,
  type TimingHistories,
  type TimingQuery,
  type Timings,
  timingsKept,
  type Wait,
} from '@longshore/jobs/storage';
import type { Database } from '../connection/database.js';
import type { DatabaseClock } from '../connection/database-clock.js';
import type { QueueIdCache } from '../queues/queue-id-cache.js';
import { allNames, allQueues, TimingStore } from './timing-store.js';
import {
  selectHistories,
  selectMeasured,
  selectNameTimings,
  selectTimings,
  type TimingRow,
} from './timings.sql.js';

/** Pause between writes, as a multiple of the duration of the last write. */
const restFactor = 20;

/** Records timings in memory, writes them to the database in {@link PostgresTimings.maintain}, and reads them back. */
export class PostgresTimings implements Timings {
  readonly #reads: Database;
  readonly #queues: QueueIdCache;
  readonly #clock: DatabaseClock;
  readonly #buffer: TimingBuffer;
  readonly #store: TimingStore;
  #nextStoreAt = -Infinity;

  constructor(
    { database, reads }: { database: Database; reads: Database },
    queues: QueueIdCache,
    clock: DatabaseClock,
  ) {
    this.#reads = reads;
    this.#queues = queues;
    this.#clock = clock;
    this.#buffer = new TimingBuffer(clock);
    this.#store = new TimingStore(database, queues);
  }

  started(queue: string, name: string, wait: Wait): void {
    this.#buffer.started(queue, name, wait);
  }

  ended(queue: string, name: string, outcome: Outcome['kind'], ranMs: number): void {
    this.#buffer.ended(queue, name, outcome, ranMs);
  }

  /**
   * Stores the recorded timings and, once a minute, measures the backlog. Returns `false` if no timings had been
   * recorded. During the pause after a write, does nothing and returns `true`, so that the next call follows soon.
   */
  async maintain(): Promise<boolean> {
    const startedAt = performance.now();
    if (startedAt >= this.#nextStoreAt) {
      const stored = await this.store();
      const endedAt = performance.now();
      this.#nextStoreAt = endedAt + restFactor * (endedAt - startedAt);
      await this.#store.measureBacklog(this.#clock.now());
      return stored;
    }
    return true;
  }

  /** Stores the recorded timings. Returns whether there were any. */
  store(): Promise<boolean> {
    return this.#store.addFrom(this.#buffer);
  }

  async read(query: TimingQuery): Promise<TimingBucket[]> {
    const { buckets, resolution } = emptyTimingBuckets(query);
    const [queueId] = query.queue === undefined ? [allQueues] : await this.#queues.idsOf([query.queue]);
    const [first = 0] = buckets.keys();
    const seconds = timingsKept[resolution].bucketMs / 1_000;
    const span = [seconds, first, query.until.getTime()];
    const [rows, measured] = await Promise.all([
      queueId === undefined
        ? []
        : this.#reads.query<TimingRow>(selectTimings, [queueId, query.name ?? allNames, ...span]),
      this.#reads.query<{ at: number }>(selectMeasured, span),
    ]);
    const bucketAt = (at: number): TimingBucket | undefined =>
      buckets.get(Math.floor(at / query.bucketMs) * query.bucketMs);
    for (const { at } of measured) {
      const bucket = bucketAt(at);
      if (bucket !== undefined) bucket.backlog = 0;
    }
    for (const row of rows) {
      const bucket = bucketAt(row.at);
      if (bucket === undefined) continue;
      add(bucket.timing, row);
      if (row.backlog !== null) bucket.backlog = Math.max(bucket.backlog ?? 0, Number(row.backlog));
    }
    return [...buckets.values()];
  }

  async listNames(query: NameTimingQuery): Promise<NameTiming[]> {
    const { bucketMs } = timingsKept[resolutionOf(query)];
    const now = await this.#clock.fresh();
    const from = Math.floor((now.getTime() - query.sinceMs) / bucketMs) * bucketMs;
    const [queueId] = query.queue === undefined ? [allQueues] : await this.#queues.idsOf([query.queue]);
    if (queueId === undefined) return [];
    const values = [queueId, bucketMs / 1_000, from, query.limit];
    const byName = new Map<string, Timing>();
    for (const row of await this.#reads.query<TimingRow>(selectNameTimings, values)) {
      const timing = byName.get(row.name) ?? new Timing();
      byName.set(row.name, timing);
      add(timing, row);
    }
    return Array.from(byName, ([name, timing]) => ({ name, timing })).toSorted(
      (one, other) => attemptsOf(other.timing) - attemptsOf(one.timing) || (one.name < other.name ? -1 : 1),
    );
  }

  async readHistories(query: HistoryQuery): Promise<TimingHistories> {
    const readAt = await this.#clock.fresh();
    const { hoursFrom, minutesFrom } = historyStart(query, readAt.getTime());
    const byName = new Map<string, HistoryBucket[]>(query.names.map((name) => [name, []]));
    const total: HistoryBucket[] = [];
    const [queueId] = query.queue === undefined ? [allQueues] : await this.#queues.idsOf([query.queue]);
    if (queueId === undefined) return { readAt, byName, total };
    const values = [queueId, [allNames, ...byName.keys()], hoursFrom, minutesFrom];
    for (const row of await this.#reads.query<TimingRow & { seconds: number }>(selectHistories, values)) {
      const timing = new Timing();
      add(timing, row);
      const buckets = row.name === allNames ? total : byName.get(row.name);
      buckets?.push({ at: new Date(row.at), bucketMs: 1_000 * row.seconds, timing });
    }
    return { readAt, byName, total };
  }
}

function attemptsOf({ done, failed, retried }: Timing): number {
  return done + failed + retried;
}

function add(timing: Timing, row: TimingRow): void {
  timing.done += row.done;
  timing.failed += row.failed;
  timing.retried += row.retried;
  addHistogram(timing.waiting, row.waiting, row.waited_ms);
  addHistogram(timing.ready, row.ready, row.ready_ms);
  addHistogram(timing.running, row.running, row.ran_ms);
}

function addHistogram(histogram: DurationHistogram, literal: string, sumMs: number): void {
  const [first = 0, ...counts] = literal === '{}' ? [] : literal.slice(1, -1).split(',').map(Number);
  histogram.addCounts(first, counts, sumMs);
}
