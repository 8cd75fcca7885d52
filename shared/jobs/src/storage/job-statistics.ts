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
const maxFailureBuckets = 50;

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

export interface ErrorGroupQuery {
  /** Only failures within the last `sinceMs` milliseconds. */
  readonly sinceMs: number;
  /** Maximum number of groups; 100 by default. */
  readonly limit?: number;
  /**
   * Also count the failures of each group in buckets of this length, in milliseconds. `sinceMs` can span at most 50
   * buckets.
   */
  readonly bucketMs?: number;
}

/** How many jobs of an error group failed in one time interval. */
export interface FailureBucket {
  /** Start of the interval: a multiple of the interval's length, counted from the start of 1970 (UTC). */
  readonly at: Date;
  /** The number of jobs that count in the group, by their latest failure. */
  readonly jobs: number;
  /** `false` if there were more jobs than were counted. */
  readonly exact: boolean;
}

/** Jobs with the same name whose latest failures have the same fingerprint. */
export interface ErrorGroup {
  name: string;
  /** The `errorFingerprint` of the failures. A {@link JobFilter} with this value finds the jobs. */
  fingerprint: string;
  /** Number of jobs in the group: failed jobs and jobs that wait for another attempt. */
  count: number;
  /** Number of jobs in state `failed`; these can be retried manually. */
  retryable: number;
  /** `false` if the group contains more jobs in state `failed` than were counted. */
  failedExact: boolean;
  /** `false` if the group contains more jobs waiting for another attempt than were counted. */
  waitingExact: boolean;
  /**
   * When a job with this name first failed with this fingerprint; can be before the queried time span. Recorded within
   * about a minute of the failure. Does not change if the job is later retried or deleted.
   */
  firstSeenAt: Date;
  lastSeenAt: Date;
  /** The message of the latest failure. */
  message: string;
  /** The id of the job that failed most recently. */
  exampleId: string;
  /** The failures over time, oldest bucket first; empty unless the query has `bucketMs`. */
  course: readonly FailureBucket[];
}

export interface ErrorGroups {
  /**
   * The groups with the highest counts, in descending order. Groups with equal counts are sorted by latest failure,
   * newest first.
   */
  readonly groups: ErrorGroup[];
  /** `false` if there may be further groups. */
  readonly complete: boolean;
}

/**
 * Limits the records of when each kind of error first occurred. A kind is a job name and a fingerprint.
 *
 * `days` is how long a kind is kept after its latest occurrence. `max` is the maximum number of kinds.
 */
export const errorKindsKept = { days: 90, max: 10_000 } as const;

/**
 * Returns the starts of the buckets that a query of error groups asks for, in milliseconds since 1970, oldest first.
 *
 * @throws {RangeError} if there are too many
 */
export function failureBuckets({ sinceMs, bucketMs }: ErrorGroupQuery, nowMs: number): number[] {
  if (bucketMs === undefined) return [];
  if (!(bucketMs >= 1_000 && sinceMs / bucketMs <= maxFailureBuckets))
    throw new RangeError(
      `bucketMs must be at least 1000, and sinceMs at most ${maxFailureBuckets} times bucketMs, not ${bucketMs}`,
    );
  const starts: number[] = [];
  for (let at = Math.floor((nowMs - sinceMs) / bucketMs) * bucketMs; at <= nowMs; at += bucketMs)
    starts.push(at);
  return starts;
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

/**
 * Groups failures by job name and fingerprint. The result is in no particular order.
 *
 * @param starts the starts of the buckets of `course`, as returned by {@link failureBuckets}
 */
export function groupFailures(failures: Iterable<Failure>, starts: readonly number[] = []): ErrorGroup[] {
  const groups: ErrorGroup[] = [];
  for (const { jobId, at, retryable, ...kind } of failures)
    groups.push({
      ...kind,
      count: 1,
      retryable: retryable ? 1 : 0,
      failedExact: true,
      waitingExact: true,
      firstSeenAt: at,
      lastSeenAt: at,
      exampleId: jobId,
      course: starts.map((start, index) => ({
        at: new Date(start),
        jobs: at.getTime() >= start && at.getTime() < (starts[index + 1] ?? Infinity) ? 1 : 0,
        exact: true,
      })),
    });
  return mergeGroups(groups);
}

/** Merges groups with the same job name and fingerprint. The result is in no particular order. */
export function mergeGroups(groups: Iterable<ErrorGroup>): ErrorGroup[] {
  const merged = new Map<string, ErrorGroup>();
  for (const group of groups) {
    const key = `${group.name}\n${group.fingerprint}`;
    const mergedGroup = merged.get(key);
    if (mergedGroup === undefined) merged.set(key, { ...group });
    else add(mergedGroup, group);
  }
  return [...merged.values()];
}

function add(total: ErrorGroup, group: ErrorGroup): void {
  const { count, retryable, failedExact, waitingExact, firstSeenAt, lastSeenAt, message, exampleId } = group;
  total.course = addCourses(total.course, group.course);
  total.count += count;
  total.retryable += retryable;
  total.failedExact &&= failedExact;
  total.waitingExact &&= waitingExact;
  if (firstSeenAt < total.firstSeenAt) total.firstSeenAt = firstSeenAt;
  if (lastSeenAt > total.lastSeenAt) Object.assign(total, { lastSeenAt, message, exampleId });
}

/** Adds two courses bucket by bucket. A course without buckets adds nothing. */
export function addCourses(
  one: readonly FailureBucket[],
  other: readonly FailureBucket[],
): readonly FailureBucket[] {
  if (one.length === 0) return other;
  return one.map((bucket, index) => {
    const added = other[index];
    return added === undefined
      ? bucket
      : { at: bucket.at, jobs: bucket.jobs + added.jobs, exact: bucket.exact && added.exact };
  });
}

/** Returns the groups with the highest counts, in descending order; at most `limit` (100 by default). */
export function largestGroups(
  groups: readonly ErrorGroup[],
  { limit = 100 }: Pick<ErrorGroupQuery, 'limit'>,
): ErrorGroups {
  const sorted = groups.toSorted(
    (one, other) => other.count - one.count || other.lastSeenAt.getTime() - one.lastSeenAt.getTime(),
  );
  return { groups: sorted.slice(0, limit), complete: sorted.length <= limit };
}
