import type { ErrorGroupQuery, ErrorGroups } from './error-groups.js';

export interface ThroughputQuery {
  /** How far back to count, in milliseconds: up to 7 days, or up to one day for a single queue. */
  readonly sinceMs: number;
  /**
   * Length of a bucket in milliseconds: a multiple of 10 000, or of 60 000 for a single queue. At most 2000 buckets.
   */
  readonly bucketMs: number;
  /** Only jobs of this queue. */
  readonly queue?: string;
}

export interface QueuesThroughputQuery {
  /** At most 100 names. */
  readonly queues: readonly string[];
  /** How far back to count, in milliseconds: up to one day. */
  readonly sinceMs: number;
  /** Length of a bucket in milliseconds: a multiple of 60 000. At most 2000 buckets across all queues. */
  readonly bucketMs: number;
}

/** The number of jobs that ended in a time interval. */
export interface ThroughputBucket {
  /** Start of the bucket, a multiple of its length since 1970. */
  at: Date;
  done: number;
  failed: number;
}

/** Computes statistics over many jobs. The cost of a call does not depend on the number of jobs. */
export interface JobStatistics {
  /**
   * Groups the failures within a time span by kind. Frequent errors do not hide rare ones: if there are too many
   * failures to count, large groups are counted only up to a limit and marked as inexact.
   */
  listErrorGroups(query: ErrorGroupQuery): Promise<ErrorGroups>;
  /**
   * Counts the jobs that ended as done or failed in each bucket. The oldest bucket comes first, there are no gaps, and
   * the last bucket is not yet complete. Jobs that are retried or deleted later still count.
   *
   * @throws {RangeError} if a number is out of bounds
   */
  throughput(query: ThroughputQuery): Promise<ThroughputBucket[]>;
  /**
   * Returns the throughput of several queues, by queue name; a queue that does not exist has empty buckets. Counting
   * starts at a full minute that is usually within the first bucket, so that bucket covers only the last part of its
   * interval.
   *
   * @throws {RangeError} if a number is out of bounds
   */
  throughputByQueue(query: QueuesThroughputQuery): Promise<ReadonlyMap<string, ThroughputBucket[]>>;
}

/** The resolution of throughput and how long it is kept, in milliseconds. */
export const throughputKept = {
  all: { bucketMs: 10_000, forMs: 7 * 86_400_000 },
  queue: { bucketMs: 60_000, forMs: 86_400_000 },
} as const;

const maxBuckets = 2_000;
const maxQueues = 100;

/**
 * Returns an empty bucket for each interval of the query, keyed by its start in milliseconds since 1970.
 *
 * @throws {RangeError} as `throughput` does
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
 * Returns the buckets of {@link emptyBuckets} for each queue, and the time at which counting starts, in milliseconds
 * since 1970.
 *
 * @throws {RangeError} as `throughputByQueue` does
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
