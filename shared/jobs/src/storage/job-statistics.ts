import type { ErrorGroupQuery, ErrorGroups } from './error-groups.js';

export interface ThroughputQuery {
  /** The last so many milliseconds: up to 7 days; of one queue, up to a day. */
  readonly sinceMs: number;
  /** Length of a bucket: a multiple of 10 000; of one queue, of 60 000. At most 2000 buckets. */
  readonly bucketMs: number;
  /** Only jobs of this queue. */
  readonly queue?: string;
}

export interface QueuesThroughputQuery {
  /** At most 100 names. */
  readonly queues: readonly string[];
  /** The last so many milliseconds, up to a day. */
  readonly sinceMs: number;
  /** Length of a bucket: a multiple of 60 000. At most 2000 buckets, those of all queues together. */
  readonly bucketMs: number;
}

/** What ended in a span of time. */
export interface ThroughputBucket {
  /** When it begins: a multiple of its length since 1970. */
  at: Date;
  done: number;
  failed: number;
}

/** Figures over many jobs, which cost the same however many there are. */
export interface JobStatistics {
  /**
   * What failed within a span of time, by kind. A flood of one error hides no other: where there is too much to be counted, each
   * group is counted so far, and says so.
   */
  listErrorGroups(query: ErrorGroupQuery): Promise<ErrorGroups>;
  /**
   * Jobs that ended done or failed, by time: oldest bucket first, none left out, the last one still filling. What is
   * retried or deleted afterwards stays counted.
   *
   * @throws {RangeError} if a number is out of its bounds
   */
  throughput(query: ThroughputQuery): Promise<ThroughputBucket[]>;
  /**
   * The same for each of several queues, by its name; one that does not exist is idle. Nothing that ended before the span
   * is counted, to the minute, so the first bucket holds the less the more the last one does.
   *
   * @throws {RangeError} if a number is out of its bounds
   */
  throughputByQueue(query: QueuesThroughputQuery): Promise<ReadonlyMap<string, ThroughputBucket[]>>;
}

/** How fine throughput is kept, and for how long, in milliseconds. */
export const throughputKept = {
  all: { bucketMs: 10_000, forMs: 7 * 86_400_000 },
  queue: { bucketMs: 60_000, forMs: 86_400_000 },
} as const;

const maxBuckets = 2_000;
const maxQueues = 100;

/**
 * The buckets asked for, empty, by the millisecond at which they begin.
 *
 * @throws {RangeError} as `throughput` does
 */
export function emptyBuckets(
  { sinceMs, bucketMs, queue }: ThroughputQuery,
  nowMs: number,
): Map<number, ThroughputBucket> {
  const kept = throughputKept[queue === undefined ? 'all' : 'queue'];
  if (!(bucketMs > 0 && bucketMs % kept.bucketMs === 0))
    throw new RangeError(`bucketMs is a multiple of ${kept.bucketMs}, not ${bucketMs}`);
  if (!(sinceMs > 0 && sinceMs <= kept.forMs && sinceMs / bucketMs <= maxBuckets))
    throw new RangeError(`sinceMs is at most ${kept.forMs} and ${maxBuckets} times bucketMs, not ${sinceMs}`);
  const buckets = new Map<number, ThroughputBucket>();
  const first = Math.floor((nowMs - sinceMs) / bucketMs) * bucketMs;
  for (let at = first; at <= nowMs; at += bucketMs) buckets.set(at, { at: new Date(at), done: 0, failed: 0 });
  return buckets;
}

/**
 * The buckets asked for, empty, of each queue, and since when jobs are counted, in milliseconds since 1970.
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
