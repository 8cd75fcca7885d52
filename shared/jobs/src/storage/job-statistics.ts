export interface ErrorGroupQuery {
  /** Failures of the last so many milliseconds. */
  readonly sinceMs: number;
  /** At most so many groups; 100 by default. */
  readonly limit?: number;
}

/** Jobs of one name whose latest failure is of one kind. */
export interface ErrorGroup {
  /** Of the jobs. */
  name: string;
  /** As `errorFingerprint` gives it; `errorFingerprint` of a filter finds the jobs. */
  fingerprint: string;
  /** Jobs: those that failed, and those that wait for another attempt. */
  count: number;
  /** Of these, jobs in state `failed`: those that can be sent back. */
  retryable: number;
  firstSeenAt: Date;
  lastSeenAt: Date;
  /** Of the latest failure. */
  message: string;
  /** The job of the latest failure. */
  exampleId: string;
}

export interface ErrorGroups {
  /** The largest first. */
  readonly groups: ErrorGroup[];
  /** `false`: there were more failures than were looked at, and the oldest ones are not counted. */
  readonly exact: boolean;
}

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
  /** Looks at the newest 5000 failed jobs and as many that wait for another attempt. */
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

/** A job's latest failure. */
export interface Failure {
  readonly jobId: string;
  readonly name: string;
  readonly fingerprint: string;
  readonly message: string;
  readonly at: Date;
  readonly retryable: boolean;
}

/** The largest groups first, and of those of a size, the one that was seen last. */
export function groupFailures(failures: Iterable<Failure>, limit = 100): ErrorGroup[] {
  const groups = new Map<string, ErrorGroup>();
  for (const { jobId, name, fingerprint, message, at, retryable } of failures) {
    const key = `${name}\n${fingerprint}`;
    let group = groups.get(key);
    if (group === undefined) {
      const seen = { firstSeenAt: at, lastSeenAt: at, message, exampleId: jobId };
      groups.set(key, (group = { name, fingerprint, count: 0, retryable: 0, ...seen }));
    }
    group.count++;
    if (retryable) group.retryable++;
    if (at < group.firstSeenAt) group.firstSeenAt = at;
    if (at > group.lastSeenAt) Object.assign(group, { lastSeenAt: at, message, exampleId: jobId });
  }
  return [...groups.values()]
    .toSorted(
      (one, other) => other.count - one.count || other.lastSeenAt.getTime() - one.lastSeenAt.getTime(),
    )
    .slice(0, limit);
}
