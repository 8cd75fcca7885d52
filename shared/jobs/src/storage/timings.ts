import { DurationHistogram } from '../job/duration-histogram.js';
import type { ClaimedJob, Outcome } from '../job/job.js';
import type { Clock } from '../job/clock.js';

const minuteMs = 60_000;
const hourMs = 3_600_000;
const dayMs = 86_400_000;

/** How long a job waited before an attempt started, in milliseconds. */
export interface Wait {
  /** Since it was due. */
  readonly waitedMs: number;
  /** Since it was ready; the last part of `waitedMs`. */
  readonly readyMs: number;
}

/** Returns how long a job had waited at a given time, in milliseconds since 1970. Never negative, whatever the clocks say. */
export function waitOf({ dueAt, readyAt }: Pick<ClaimedJob, 'dueAt' | 'readyAt'>, nowMs: number): Wait {
  const readyMs = Math.max(0, nowMs - readyAt.getTime());
  return { waitedMs: Math.max(readyMs, nowMs - dueAt.getTime()), readyMs };
}

/** Statistics of the attempts in a time interval: outcomes, waiting times and durations. */
export class Timing {
  /** Number of successful attempts; their jobs are done. */
  done = 0;
  /** Number of failed attempts that were not retried. */
  failed = 0;
  /** Number of failed attempts that were retried. */
  retried = 0;
  /** How long jobs waited from when they were due until their attempts started. */
  readonly waiting = new DurationHistogram();
  /** How much of that time they were ready. The rest of it, a concurrency key blocked them or nobody had made them ready. */
  readonly ready = new DurationHistogram();
  /** How long attempts ran, excluding snoozed attempts. */
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
    this.ready.merge(other.ready);
    this.running.merge(other.running);
  }
}

/** Once `timingsKept.names` different names are stored, jobs with new names are recorded under this name. */
export const otherNames = '(other)';

/**
 * The resolutions at which timings are stored. `bucketMs` is the length of a bucket and `forMs` how long buckets are
 * kept, in milliseconds. `names` is the maximum number of different job names.
 */
export const timingsKept = {
  minute: { bucketMs: minuteMs, forMs: 31 * hourMs },
  hour: { bucketMs: hourMs, forMs: 31 * dayMs },
  names: 1_000,
} as const;

/** Maximum number of buckets that one query can return. */
const maxBuckets = 800;

export interface TimingQuery {
  /**
   * Start of the span. Timings are kept for 31 hours if `bucketMs` is less than an hour, otherwise for 31 days; older
   * buckets are empty.
   */
  readonly from: Date;
  /** End of the span, exclusive. */
  readonly until: Date;
  /** Length of a bucket in milliseconds: a multiple of a minute and less than an hour, or a multiple of an hour. */
  readonly bucketMs: number;
  readonly queue?: string;
  readonly name?: string;
}

export interface TimingBucket {
  /** Start of the bucket: a multiple of the bucket's length, counted from the start of 1970 (UTC). */
  readonly at: Date;
  readonly timing: Timing;
  /**
   * The largest number of ready or blocked jobs measured within the bucket; `null` if there was no measurement. Running
   * servers measure once a minute. If there are many, the number for a single job name is extrapolated from a sample.
   */
  backlog: number | null;
}

export interface NameTimingQuery extends Pick<TimingQuery, 'queue'> {
  /** How far back to count, in milliseconds: up to a day. */
  readonly sinceMs: number;
  /** Maximum number of job names to return, from 1 to `timingsKept.names`. */
  readonly limit: number;
}

/** The combined timings of all jobs with one name. */
export interface NameTiming {
  readonly name: string;
  readonly timing: Timing;
}

export interface HistoryQuery extends Pick<TimingQuery, 'queue'> {
  /** The job names, at most `historySpan.names`. */
  readonly names: readonly string[];
}

/** The timings of one minute or one hour. */
export interface HistoryBucket {
  /** Start of the bucket: a full minute or hour (UTC). */
  readonly at: Date;
  /** Length of the bucket in milliseconds: a minute or an hour. */
  readonly bucketMs: number;
  readonly timing: Timing;
}

/** The timings of several job names over the last day, as of one moment. */
export interface TimingHistories {
  /** The time of the read, by the storage's clock. */
  readonly readAt: Date;
  /**
   * The buckets by job name, oldest first, without empty ones. Hours are followed by minutes; see `historySpan`. Has an
   * entry for each queried name.
   */
  readonly byName: ReadonlyMap<string, readonly HistoryBucket[]>;
  /** The buckets of all job names together. */
  readonly total: readonly HistoryBucket[];
}

/**
 * The span of {@link Timings.readHistories}: minutes since the start of the third hour before the current one, and the
 * hours before these, up to a day in all. `names` is the maximum number of job names in a query.
 */
export const historySpan = { minutesMs: 3 * hourMs, forMs: dayMs, names: 50 } as const;

/**
 * Measures how long jobs wait and run. Recording an attempt only updates counters in this process; the storage writes
 * them every few seconds. If the process is killed, unwritten counts are lost.
 */
export interface Timings {
  /** Records that an attempt has started. */
  started(queue: string, name: string, wait: Wait): void;
  /** Records that an attempt has ended after `ranMs` milliseconds. Snoozed attempts are not counted. */
  ended(queue: string, name: string, outcome: Outcome['kind'], ranMs: number): void;
  /**
   * Returns the timings in consecutive buckets, oldest first. A waiting time counts towards the bucket in which the
   * attempt starts. Outcomes and durations count towards the bucket in which the attempt ends.
   *
   * @throws {RangeError} if a number is out of bounds
   */
  read(query: TimingQuery): Promise<TimingBucket[]>;
  /**
   * Returns the timings of up to `limit` job names, sorted by number of attempts, highest first.
   *
   * @throws {RangeError} if a number is out of bounds
   */
  listNames(query: NameTimingQuery): Promise<NameTiming[]>;
  /**
   * Returns how the timings of several job names, and of all together, developed over the last day. All of them are read
   * with one statement, so they are consistent with each other.
   *
   * @throws {RangeError} if there are more than `historySpan.names` names
   */
  readHistories(query: HistoryQuery): Promise<TimingHistories>;
}

/**
 * Returns an empty bucket for each interval of the query, keyed by start time in milliseconds since 1970. Also returns
 * the stored resolution to read from.
 *
 * @throws {RangeError} if `bucketMs` is invalid, or the span has no buckets or too many
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
 * Returns the stored resolution that {@link Timings.listNames} reads from: `minute` for up to three hours, otherwise
 * `hour`.
 *
 * @throws {RangeError} if `sinceMs` or `limit` is out of bounds
 */
export function resolutionOf({ sinceMs, limit }: NameTimingQuery): 'minute' | 'hour' {
  if (!(sinceMs > 0 && sinceMs <= dayMs))
    throw new RangeError(`sinceMs must be from 1 to ${dayMs}, not ${sinceMs}`);
  if (!(limit >= 1 && limit <= timingsKept.names))
    throw new RangeError(`limit must be from 1 to ${timingsKept.names}, not ${limit}`);
  return sinceMs <= 3 * hourMs ? 'minute' : 'hour';
}

/**
 * Returns where the hours and the minutes of {@link Timings.readHistories} start, in milliseconds since 1970.
 *
 * @throws {RangeError} if there are too many names
 */
export function historyStart(
  { names }: HistoryQuery,
  nowMs: number,
): { hoursFrom: number; minutesFrom: number } {
  if (names.length > historySpan.names)
    throw new RangeError(`At most ${historySpan.names} names, not ${names.length}`);
  const hour = Math.floor(nowMs / hourMs) * hourMs;
  return { hoursFrom: hour - historySpan.forMs, minutesFrom: hour - historySpan.minutesMs };
}

const steps = [1, 5, 10, 30, 60, 180, 360, 720, 1_440].map((minutes) => minutes * minuteMs);

/**
 * Returns a suitable bucket length for a time span, in milliseconds: the shortest of several round lengths that yields
 * at most 120 buckets, or a day if no length does. Returns at least an hour if the per-minute timings for the start
 * of the span have expired.
 *
 * @param nowMs the current time by the storage's clock
 */
export function defaultBucketMs(fromMs: number, untilMs: number, nowMs: number): number {
  const least = fromMs < nowMs - timingsKept.minute.forMs ? hourMs : minuteMs;
  return steps.find((step) => step >= least && (untilMs - fromMs) / step <= 120) ?? dayMs;
}

/**
 * Maximum number of cells to keep while the storage is unreachable. If there are more, the oldest cells are discarded.
 */
const maxCells = 20_000;

/** The timings of the attempts of one job name, in one queue and one minute. */
export interface TimingCell {
  readonly queue: string;
  readonly name: string;
  /** The start of the minute, in milliseconds since 1970. */
  readonly minute: number;
  readonly timing: Timing;
}

/** Aggregates the timings of attempts by queue, job name and minute until they are stored. */
export class TimingBuffer {
  readonly #clock: Clock;
  #minute = 0;
  #current = new Map<string, Map<string, Timing>>();
  #waiting: TimingCell[] = [];

  /** @param clock the storage's clock */
  constructor(clock: Clock) {
    this.#clock = clock;
  }

  started(queue: string, name: string, { waitedMs, readyMs }: Wait): void {
    const { waiting, ready } = this.#timing(queue, name);
    waiting.add(waitedMs);
    ready.add(readyMs);
  }

  ended(queue: string, name: string, outcome: Outcome['kind'], ranMs: number): void {
    if (outcome === 'snooze' || outcome === 'suspend') return;
    const timing = this.#timing(queue, name);
    timing.running.add(ranMs);
    if (outcome === 'done') timing.done++;
    else if (outcome === 'failed') timing.failed++;
    else if (outcome === 'retry') timing.retried++;
  }

  /** Removes and returns all cells, including those of the current, incomplete minute. */
  take(): TimingCell[] {
    this.#close();
    return this.#waiting.splice(0);
  }

  /**
   * Puts back cells that could not be stored, so that the next {@link take} returns them again. Drops the oldest cells
   * beyond {@link maxCells}.
   */
  restore(cells: readonly TimingCell[]): void {
    this.#waiting = [...cells, ...this.#waiting].slice(-maxCells);
  }

  #timing(queue: string, name: string): Timing {
    const now = this.#clock.now();
    if (now >= this.#minute + minuteMs || now < this.#minute) {
      this.#close();
      this.#minute = Math.floor(now / minuteMs) * minuteMs;
    }
    let names = this.#current.get(queue);
    if (names === undefined) this.#current.set(queue, (names = new Map<string, Timing>()));
    let timing = names.get(name);
    if (timing === undefined) names.set(name, (timing = new Timing()));
    return timing;
  }

  #close(): void {
    const minute = this.#minute;
    for (const [queue, names] of this.#current)
      for (const [name, timing] of names) this.#waiting.push({ queue, name, minute, timing });
    if (this.#waiting.length > maxCells) this.#waiting = this.#waiting.slice(-maxCells);
    this.#current = new Map<string, Map<string, Timing>>();
  }
}
