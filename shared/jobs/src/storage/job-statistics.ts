import type { ErrorGroupQuery, ErrorGroups } from './error-groups.js';

export interface ThroughputQuery {
  /** How far back to count, in milliseconds: up to 7 days or, with `queue`, up to one day. */
  readonly sinceMs: number;
  /**
   * Length of a bucket in milliseconds: a multiple of 10,000 or, with `queue`, of 60,000. `sinceMs` can span at most
   * 2000 buckets.
   */
  readonly bucketMs: number;
  readonly queue?: string;
}

export interface QueuesThroughputQuery {
  /** The names of the queues, at most 100. */
  readonly queues: readonly string[];
  /** How far back to count, in milliseconds: up to one day. */
  readonly sinceMs: number;
  /**
   * Length of a bucket in milliseconds: a multiple of 60,000. `sinceMs` can span at most 2000 buckets, counted across
   * all queues.
   */
  readonly bucketMs: number;
}

/** How many jobs succeeded, and how many failed, in one time interval. */
export interface ThroughputBucket {
  /** Start of the interval: a multiple of the interval's length, counted from the start of 1970 (UTC). */
  at: Date;
  done: number;
  failed: number;
}

export interface JobStatistics {
  /**
   * Groups the failures within a time span by job name and fingerprint. If there are too many failures to count, large
   * groups are counted only up to a limit and marked as inexact. Frequent errors therefore do not hide rare ones.
   */
  listErrorGroups(query: ErrorGroupQuery): Promise<ErrorGroups>;
  /**
   * Counts the jobs that ended as done or failed, in consecutive time buckets, oldest first. The last bucket contains
   * the current time, so it is not yet complete. Jobs that are later retried or deleted still count.
   *
   * @throws {RangeError} if a number is out of bounds
   */
  throughput(query: ThroughputQuery): Promise<ThroughputBucket[]>;
  /**
   * Returns the throughput of several queues by queue name; all buckets are 0 for a queue that does not exist. Counting
   * starts `sinceMs` ago, rounded down to a full minute. If buckets are longer than a minute, the first one usually
   * covers only part of its interval.
   *
   * @throws {RangeError} if a number is out of bounds, or there are too many queues
   */
  throughputByQueue(query: QueuesThroughputQuery): Promise<ReadonlyMap<string, ThroughputBucket[]>>;
}

/**
 * How finely throughput is stored (`bucketMs`) and how long it is kept (`forMs`), in milliseconds. `all` applies to the
 * throughput of all queues together, `queue` to the throughput of each queue.
 */
export const throughputKept = {
  all: { bucketMs: 10_000, forMs: 7 * 86_400_000 },
  queue: { bucketMs: 60_000, forMs: 86_400_000 },
} as const;

const maxBuckets = 2_000;
const maxQueues = 100;

/**
 * Returns an empty bucket for each interval of the query, keyed by its start in milliseconds since 1970.
 *
 * @throws {RangeError} if a number in the query is out of bounds
 */
export function emptyBuckets(
  { sinceMs, bucketMs, queue }: ThroughputQuery,
  nowMs: number,
): Map<number, ThroughputBucket> {
  const kept = throughputKept[queue === undefined ? 'all' : 'queue'];
  if (!(bucketMs > 0 && bucketMs % kept.bucketMs === 0))
    throw new RangeError(`bucketMs must be a multiple of ${kept.bucketMs}, not ${bucketMs}`);
  if (!(sinceMs > 0 && sinceMs <= kept.forMs && sinceMs / bucketMs <= maxBuckets))
    throw new RangeError(
      `sinceMs must be at most ${kept.forMs}, and at most ${maxBuckets} times bucketMs, not ${sinceMs}`,
    );
  const buckets = new Map<number, ThroughputBucket>();
  const first = Math.floor((nowMs - sinceMs) / bucketMs) * bucketMs;
  for (let at = first; at <= nowMs; at += bucketMs) buckets.set(at, { at: new Date(at), done: 0, failed: 0 });
  return buckets;
}

/**
 * Like {@link emptyBuckets}, but for several queues. `byQueue` maps each queue to its buckets. `sinceAt` is the time at
 * which counting starts, in milliseconds since 1970.
 *
 * @throws {RangeError} if a number in the query is out of bounds, or there are too many queues
 */
export function emptyBucketsByQueue(
  { queues, sinceMs, bucketMs }: QueuesThroughputQuery,
  nowMs: number,
): { sinceAt: number; byQueue: Map<string, Map<number, ThroughputBucket>> } {
  const names = new Set(queues);
  const buckets = (names.size * sinceMs) / bucketMs;
  if (names.size > maxQueues || buckets > maxBuckets)
    throw new RangeError(
      `At most ${maxQueues} queues and ${maxBuckets} buckets, not ${names.size} and ${buckets}`,
    );
  const minuteMs = throughputKept.queue.bucketMs;
  return {
    sinceAt: Math.floor((nowMs - sinceMs) / minuteMs) * minuteMs,
    byQueue: new Map(
      Array.from(names, (queue) => [queue, emptyBuckets({ sinceMs, bucketMs, queue }, nowMs)] as const),
    ),
  };
}
