import { DurationHistogram } from '../job/duration-histogram.js';
import type { Outcome } from '../job/job.js';

const minuteMs = 60_000;
const hourMs = 3_600_000;
const dayMs = 86_400_000;

/** The outcomes and durations of the attempts in a time interval. */
export class Timing {
  /** Number of attempts after which the job was done. */
  done = 0;
  /** Number of attempts after which the job failed. */
  failed = 0;
  /** Number of failed attempts after which the job waits for another attempt. */
  retried = 0;
  /** The times for which jobs were ready before an attempt started. */
  readonly waiting = new DurationHistogram();
  /** The durations of attempts, whatever their outcome, except snoozed ones. */
  readonly running = new DurationHistogram();

  copy(): Timing {
    const copy = new Timing();
    copy.merge(this);
    return copy;
  }

  merge(other: Timing): void {
    this.done += other.done;
    this.failed += other.failed;
    this.retried += other.retried;
    this.waiting.merge(other.waiting);
    this.running.merge(other.running);
  }
}

/** The name under which jobs of all further names are counted once timings are kept for `timingsKept.names` names. */
export const otherNames = '(other)';

/** The resolution of timings, how long each is kept (in milliseconds), and the maximum number of job names. */
export const timingsKept = {
  minute: { bucketMs: minuteMs, forMs: 31 * hourMs },
  hour: { bucketMs: hourMs, forMs: 31 * dayMs },
  names: 1_000,
} as const;

/** Maximum number of buckets in one result. */
const maxBuckets = 800;

export interface TimingQuery {
  /** The start: at most 31 hours ago if `bucketMs` is less than an hour, otherwise at most 31 days ago. */
  readonly from: Date;
  /** The end, exclusive. */
  readonly until: Date;
  /** Length of a bucket in milliseconds: a multiple of 60 000 up to an hour, or a multiple of an hour. */
  readonly bucketMs: number;
  /** Only jobs of this queue. */
  readonly queue?: string;
  /** Only jobs of this name. */
  readonly name?: string;
}

export interface TimingBucket {
  /** Start of the bucket, a multiple of its length since 1970. */
  readonly at: Date;
  readonly timing: Timing;
  /**
   * The largest number of ready jobs in any minute of the bucket; `null` if nothing was measured because no server was
   * running. The number for a job name is extrapolated from a sample if many jobs are ready.
   */
  backlog: number | null;
}

export interface NameTimingQuery extends Pick<TimingQuery, 'queue'> {
  /** How far back to count, in milliseconds: up to a day. */
  readonly sinceMs: number;
  /** Maximum number of names. */
  readonly limit: number;
}

/** The timings of one job name. */
export interface NameTiming {
  readonly name: string;
  readonly timing: Timing;
}

/**
 * Measures how long jobs wait and run. Recording an attempt only increments counters in the process; the storage writes
 * them every few seconds. A process that is killed loses the counts that it has not stored yet.
 */
export interface Timings {
  /** Records that an attempt has started, after its job was ready for `waitedMs` milliseconds. */
  started(queue: string, name: string, waitedMs: number): void;
  /** Records that an attempt has ended after `ranMs` milliseconds. */
  ended(queue: string, name: string, outcome: Outcome['kind'], ranMs: number): void;
  /**
   * Returns the timings of each bucket, oldest first and without gaps. The cost does not depend on the number of jobs.
   * Waiting times are counted in the bucket in which the attempt starts, everything else in the bucket in which it
   * ends.
   *
   * @throws {RangeError} if a number is out of bounds
   */
  read(query: TimingQuery): Promise<TimingBucket[]>;
  /**
   * Returns the timings of up to `limit` job names, those with the most attempts first.
   *
   * @throws {RangeError} if a number is out of bounds
   */
  listNames(query: NameTimingQuery): Promise<NameTiming[]>;
}

/**
 * Returns an empty bucket for each interval of the query, keyed by its start in milliseconds since 1970, and the
 * resolution to read.
 *
 * @throws {RangeError} as `read` does
 */
export function emptyTimingBuckets({ from, until, bucketMs }: TimingQuery): {
  readonly buckets: Map<number, TimingBucket>;
  readonly resolution: 'minute' | 'hour';
} {
  const resolution = bucketMs % hourMs === 0 ? 'hour' : 'minute';
  if (!(bucketMs > 0 && bucketMs % minuteMs === 0 && (resolution === 'hour' || bucketMs < hourMs)))
    throw new RangeError(
      `bucketMs must be a multiple of ${minuteMs} up to an hour, or a multiple of ${hourMs}, not ${bucketMs}`,
    );
  const first = Math.floor(from.getTime() / bucketMs) * bucketMs;
  const count = Math.ceil((until.getTime() - first) / bucketMs);
  if (!(count >= 1 && count <= maxBuckets))
    throw new RangeError(`The span must have 1 to ${maxBuckets} buckets of bucketMs, not ${count}`);
  const buckets = new Map<number, TimingBucket>();
  for (let index = 0; index < count; index++) {
    const at = first + index * bucketMs;
    buckets.set(at, { at: new Date(at), timing: new Timing(), backlog: null });
  }
  return { buckets, resolution };
}

/**
 * Returns the resolution for {@link Timings.listNames}: minutes for spans of up to three hours, hours beyond.
 *
 * @throws {RangeError} as `listNames` does
 */
export function resolutionOf({ sinceMs, limit }: NameTimingQuery): 'minute' | 'hour' {
  if (!(sinceMs > 0 && sinceMs <= dayMs))
    throw new RangeError(`sinceMs must be from 1 to ${dayMs}, not ${sinceMs}`);
  if (!(limit >= 1 && limit <= timingsKept.names))
    throw new RangeError(`limit must be from 1 to ${timingsKept.names}, not ${limit}`);
  return sinceMs <= 3 * hourMs ? 'minute' : 'hour';
}

const steps = [1, 5, 10, 30, 60, 180, 360, 720, 1_440].map((minutes) => minutes * minuteMs);

/**
 * Returns the shortest usual bucket length, in milliseconds, that divides a time span into at most 120 buckets and
 * whose timings are still kept at the start of the span.
 *
 * @param nowMs the storage's time
 */
export function defaultBucketMs(fromMs: number, untilMs: number, nowMs: number): number {
  const least = fromMs < nowMs - timingsKept.minute.forMs ? hourMs : minuteMs;
  return steps.find((step) => step >= least && (untilMs - fromMs) / step <= 120) ?? dayMs;
}
