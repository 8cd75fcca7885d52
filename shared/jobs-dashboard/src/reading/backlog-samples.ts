import type { BlockingKeys, Queue, Queues } from '@longshore/jobs/storage';

type ReadQueues = Pick<Queues, 'find' | 'list' | 'listBlockingKeys'>;

/** The number of a queue's ready jobs at one moment. */
export interface BacklogSample {
  /** By the storage's clock, in milliseconds since 1970. */
  readonly atMs: number;
  /** The number of jobs that servers could take: enqueued, and not blocked by a concurrency key. */
  readonly ready: number;
  /** Changes when something changes that determines how fast servers take jobs: a pause, a limit, the number of servers. */
  readonly regime: string;
}

interface QueueCount {
  readonly enqueued: number;
  readonly regime: string;
}

/** What one read of the storage found out about one queue, or about all queues if `queue` is `null`. */
interface Reading<Value> {
  readonly atMs: number;
  readonly queue: string | null;
  readonly of: (queue: string) => Value;
}

const noJobs: QueueCount = { enqueued: 0, regime: '' };

/** How long readings are kept, in milliseconds. */
const KEPT_MS = 120_000;
/** Readings that follow each other faster than this, in milliseconds, say nothing more. */
const MIN_STEP_MS = 1_000;
/** Slower reads are ignored, in milliseconds: it is uncertain of when their numbers are. */
const MAX_TOOK_MS = 2_000;
/** Maximum time between a reading of the blocked jobs and the readings of the enqueued jobs around it, in milliseconds. */
const MAX_GAP_MS = 15_000;

/**
 * Samples how many jobs of each queue are ready, from what pages read anyway: nothing is read for the samples. All
 * viewers of a process share them.
 */
export class BacklogSamples {
  readonly #now: () => number;
  /** Oldest first, as are `#blocked`. */
  readonly #counts: Reading<QueueCount>[] = [];
  /** The numbers of blocked jobs; `null` if not all were counted. */
  readonly #blocked: Reading<number | null>[] = [];

  /** @param now returns the storage's time in milliseconds since 1970 */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Returns a reader of queues that reads from `queues`, and remembers the numbers that it reads. */
  sampling(queues: ReadQueues): ReadQueues {
    return {
      find: (name) =>
        this.#timed(
          () => queues.find(name),
          (queue, atMs) => this.#addCounts(name, queue === null ? [] : [queue], atMs),
        ),
      list: () =>
        this.#timed(
          () => queues.list(),
          (list, atMs) => this.#addCounts(null, list, atMs),
        ),
      listBlockingKeys: (queue) =>
        this.#timed(
          () => queues.listBlockingKeys(queue),
          (keys, atMs) => this.#addBlocked(queue ?? null, keys, atMs),
        ),
    };
  }

  /**
   * Returns the samples of a queue of the last two minutes, oldest first. They are exact; there are none while it is
   * unknown how many of the queue's jobs are blocked.
   */
  of(queue: string): BacklogSample[] {
    const counts = ofQueue(this.#counts, queue);
    const blocked = ofQueue(this.#blocked, queue);
    const [first, last] = [blocked[0], blocked.at(-1)];
    if (first === undefined || last === undefined) return [];
    if (blocked.some(({ value }) => value === null)) return [];
    const samples = blocked.every(({ value }) => (value ?? 0) === 0)
      ? counts.filter(({ atMs }) => atMs > first.atMs - MAX_GAP_MS && atMs < last.atMs + MAX_GAP_MS)
      : blocked.flatMap(({ atMs, value }) => {
          const count = between(counts, atMs);
          return count === null
            ? []
            : [{ atMs, value: { ...count, enqueued: count.enqueued - (value ?? 0) } }];
        });
    return samples.map(({ atMs, value: { enqueued, regime } }) => ({
      atMs,
      ready: Math.max(0, enqueued),
      regime,
    }));
  }

  async #timed<Result>(
    read: () => Promise<Result>,
    add: (result: Result, atMs: number) => void,
  ): Promise<Result> {
    const beganMs = this.#now();
    const result = await read();
    const tookMs = this.#now() - beganMs;
    if (tookMs >= 0 && tookMs <= MAX_TOOK_MS) add(result, beganMs + tookMs / 2);
    return result;
  }

  #addCounts(queue: string | null, queues: readonly Queue[], atMs: number): void {
    const byQueue = new Map(
      queues
        .filter(({ counts }) => counts.enqueued > 0)
        .map((each) => [each.name, { enqueued: each.counts.enqueued, regime: regimeOf(each) }]),
    );
    add(this.#counts, { atMs, queue, of: (name) => byQueue.get(name) ?? noJobs });
  }

  #addBlocked(queue: string | null, { keys, isComplete }: BlockingKeys, atMs: number): void {
    const byQueue = new Map<string, number | null>();
    for (const key of keys) {
      const sum = byQueue.get(key.queue);
      byQueue.set(key.queue, sum === null || !key.blocked.exact ? null : (sum ?? 0) + key.blocked.count);
    }
    // If keys are missing, any queue can have more blocked jobs.
    add(this.#blocked, { atMs, queue, of: (name) => (isComplete ? (byQueue.get(name) ?? 0) : null) });
  }
}

function regimeOf({ pausedAt, concurrencyLimit, rateLimit, servers }: Queue): string {
  const rate =
    rateLimit === null ? 'any' : `${rateLimit.jobs} per ${rateLimit.periodMs} burst ${rateLimit.burst}`;
  return `${pausedAt === null ? 'taken' : 'paused'}, ${concurrencyLimit ?? 'any'} at once, ${rate}, ${servers} servers`;
}

/** Adds a reading, and removes those that are too old. After the clock has been set back, removes all others. */
function add<Value>(readings: Reading<Value>[], reading: Reading<Value>): void {
  const latestMs = readings.at(-1)?.atMs ?? -Infinity;
  if (reading.atMs < latestMs - MAX_TOOK_MS) readings.length = 0;
  else if (reading.atMs < latestMs) return; // overtaken by a faster read
  readings.push(reading);
  const kept = readings.findIndex(({ atMs }) => atMs >= reading.atMs - KEPT_MS);
  readings.splice(0, kept);
}

interface Dated<Value> {
  readonly atMs: number;
  readonly value: Value;
}

/** Returns what the readings say about one queue, leaving out those that follow another too fast. */
function ofQueue<Value>(readings: readonly Reading<Value>[], name: string): Dated<Value>[] {
  const kept: Dated<Value>[] = [];
  let nextMs = Infinity;
  for (const { atMs, queue, of } of readings.toReversed()) {
    if ((queue !== null && queue !== name) || atMs > nextMs) continue;
    kept.push({ atMs, value: of(name) });
    nextMs = atMs - MIN_STEP_MS;
  }
  return kept.toReversed();
}

/** Returns the count at a moment between two readings in the same regime; `null` if it is not between two. */
function between(counts: readonly Dated<QueueCount>[], atMs: number): QueueCount | null {
  const index = counts.findIndex((count) => count.atMs >= atMs);
  const [before, after] = [counts[index - 1], counts[index]];
  if (before === undefined || after === undefined || after.atMs - before.atMs > MAX_GAP_MS) return null;
  if (before.value.regime !== after.value.regime) return null;
  const share = (atMs - before.atMs) / (after.atMs - before.atMs);
  const { enqueued, regime } = after.value;
  return { enqueued: Math.round(before.value.enqueued + share * (enqueued - before.value.enqueued)), regime };
}
