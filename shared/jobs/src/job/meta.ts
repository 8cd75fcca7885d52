import { type Bounds, bounds, checkText, clamp } from './bounds.js';
import { type ContinuationCondition, continuationConditions } from './continuation.js';
import { readRate, type RateLimit } from './queue-limits.js';
import type { JobState } from './state.js';
import type { AwaitedSignals } from './step.js';
import { type JobUniqueness, readUniqueness, type Uniqueness } from './uniqueness.js';

/** Optional properties of a job. Stored as `null` if the job has none. */
export interface JobMeta {
  /** Labels for finding the job. */
  readonly tags?: readonly string[];
  readonly batchId?: string;
  /** Ids of the jobs or batches that this job depends on. */
  readonly parentIds?: readonly string[];
  /** How each parent must end; absent for `onDone`. */
  readonly parentCondition?: ContinuationCondition;
  /** Delay of a job that waits for its parents, in milliseconds, counted from the end of the last one. */
  readonly delayMs?: number;
  readonly recurringJobId?: string;
  /** Id of the job whose handler enqueued this job. Its origin, not a dependency. */
  readonly enqueuedBy?: string;
  readonly idempotencyKey?: string;
  /** The unique key that the job was enqueued with. Only for display: `job_key` decides which job holds the key. */
  readonly unique?: Uniqueness;
  readonly concurrencyKey?: string;
  /** Maximum number of jobs with this concurrency key that run at once in the queue. */
  readonly concurrencyLimit?: number;
  /** Maximum rate at which jobs with this concurrency key become ready in the queue; absent for no limit. */
  readonly concurrencyRate?: Required<RateLimit>;
  /** A W3C Trace Context `traceparent`. */
  readonly traceparent?: string;
  /** Time limit per attempt, in milliseconds. */
  readonly timeoutMs?: number;
  /** The version of the definition that the job was enqueued with; absent if it is 1. */
  readonly version?: number;
  /** `true` if other jobs depend on this one; absent otherwise. */
  readonly hasDependents?: true;
  /** A key by which signals find the job. */
  readonly correlate?: string;
  /** The signals that the job waited for when it was last suspended. */
  readonly awaits?: AwaitedSignals;
  /** Id of the job that waits for this one in its handler; it gets a signal when this job ends. */
  readonly resumes?: string;
  /** Ids of the jobs that the handler waits for and that are cancelled with this job. */
  readonly cancels?: readonly string[];
}

/**
 * Returns the tags without duplicates.
 *
 * @throws {RangeError} if `tags` is not a list of at most 20 strings, each of 1 to 100 characters
 */
export function checkTags(tags: readonly string[]): string[] {
  if (!Array.isArray(tags) || tags.length > bounds.tags.max)
    throw new RangeError(`tags must be a list of at most ${bounds.tags.max} strings`);
  return [...new Set(tags.map((tag: string) => checkText('A tag', tag, bounds.tagLength)))];
}

/** The members of `Job` that are read from its stored metadata. */
export interface JobMetaFields {
  /** Labels for finding the job. */
  tags: string[];
  /** Id of the first parent; `null` if the job depends on nothing. */
  parentId: string | null;
  /** Ids of all jobs and batches that the job depends on. */
  parentIds: string[];
  /** How each parent must end; `null` if the job depends on nothing. */
  parentCondition: ContinuationCondition | null;
  batchId: string | null;
  /** Id of the recurring job that enqueued this job; `null` if none did. */
  recurringJobId: string | null;
  /**
   * Id of the job whose handler enqueued this job with the methods of its context; `null` if none did. This is the
   * job's origin, not a dependency: neither job waits for the other, and each can be deleted without the other.
   */
  enqueuedBy: string | null;
  idempotencyKey: string | null;
  /** The unique key that the job was enqueued with; `null` if it had none. Another job may hold the key by now. */
  unique: JobUniqueness | null;
  /** Time limit per attempt, in milliseconds; `null` if the limit of the job definition applies. */
  timeoutMs: number | null;
  /** The version of the definition that the job was enqueued with. */
  version: number;
  /** The W3C Trace Context `traceparent` that the job was enqueued with; `null` if it had none. */
  traceparent: string | null;
  /** The trace id of the job's `traceparent`: 32 hexadecimal digits. `null` if the job has no valid `traceparent`. */
  traceId: string | null;
  /** Limits how many jobs with the same key run at once in a queue; `null` if the job has no key. */
  concurrencyKey: string | null;
  /** How many jobs with the concurrency key run at once; `null` if the job has no key. */
  concurrencyLimit: number | null;
  /** How many jobs with the concurrency key start when; `null` if the job has no key, or its key no rate. */
  concurrencyRate: Required<RateLimit> | null;
  /** The key by which signals find the job; `null` if it has none. */
  correlate: string | null;
  /** The names of the signals that the handler of a suspended job waits for. */
  awaits: string[];
}

/**
 * Converts a job's stored metadata to members of `Job`. Never throws: ignores malformed members and malformed list
 * entries.
 *
 * @param state the state of the job, on which `awaits` depends; by default, the job waits for no signals
 */
export function readMeta(meta: JobMeta | null, state: JobState | null = null): JobMetaFields {
  const stored = asObject(meta);
  const trace = readTraceparent(stored.traceparent);
  const parents = Array.isArray(stored.parentIds)
    ? stored.parentIds.filter((id) => typeof id === 'string')
    : [];
  return {
    tags: Array.isArray(stored.tags) ? stored.tags.filter((tag) => typeof tag === 'string') : [],
    batchId: textOf(stored.batchId),
    parentId: Array.isArray(stored.parentIds) ? textOf(stored.parentIds[0]) : null,
    parentIds: parents,
    parentCondition:
      parents.length === 0 ? null : isCondition(stored.parentCondition) ? stored.parentCondition : 'onDone',
    recurringJobId: textOf(stored.recurringJobId),
    enqueuedBy: textOf(stored.enqueuedBy),
    idempotencyKey: textOf(stored.idempotencyKey),
    unique: readUniqueness(stored.unique),
    timeoutMs: isWithin(stored.timeoutMs, bounds.timeoutMs) ? stored.timeoutMs : null,
    version: definitionVersion(meta),
    traceparent: trace,
    traceId: readTraceId(trace),
    concurrencyKey: textOf(stored.concurrencyKey),
    concurrencyLimit: typeof stored.concurrencyKey === 'string' ? readLimit(stored.concurrencyLimit) : null,
    concurrencyRate: typeof stored.concurrencyKey === 'string' ? readRate(stored.concurrencyRate) : null,
    correlate: textOf(stored.correlate),
    awaits: state === 'scheduled' ? Object.keys(asObject(stored.awaits)) : [],
  };
}

/**
 * Returns the names of the `Job` members with a malformed stored value. {@link readMeta} ignores such values. If the
 * metadata is not an object, returns the names of all members.
 */
export function unreadableMeta(meta: JobMeta | null): string[] {
  if (meta === null) return [];
  const stored = asObject(meta);
  const isText = (value: unknown): boolean => value === undefined || typeof value === 'string';
  const isList = (value: unknown): boolean =>
    value === undefined || (Array.isArray(value) && value.every((element) => typeof element === 'string'));
  const isTrace = stored.traceparent === undefined || readTraceparent(stored.traceparent) !== null;
  const readable: Record<keyof JobMetaFields, boolean> = {
    tags: isList(stored.tags),
    batchId: isText(stored.batchId),
    parentId: isList(stored.parentIds) || (Array.isArray(stored.parentIds) && isText(stored.parentIds[0])),
    parentIds: isList(stored.parentIds),
    parentCondition: stored.parentCondition === undefined || isCondition(stored.parentCondition),
    recurringJobId: isText(stored.recurringJobId),
    enqueuedBy: isText(stored.enqueuedBy),
    idempotencyKey: isText(stored.idempotencyKey),
    unique: stored.unique === undefined || readUniqueness(stored.unique) !== null,
    timeoutMs: stored.timeoutMs === undefined || isWithin(stored.timeoutMs, bounds.timeoutMs),
    version: stored.version === undefined || isWithin(stored.version, bounds.version),
    traceparent: isTrace,
    traceId: isTrace,
    concurrencyKey: isText(stored.concurrencyKey),
    concurrencyLimit:
      stored.concurrencyKey === undefined || isWithin(stored.concurrencyLimit, bounds.concurrencyLimit),
    concurrencyRate: stored.concurrencyRate === undefined || readRate(stored.concurrencyRate) !== null,
    correlate: isText(stored.correlate),
    awaits: stored.awaits === undefined || asObject(stored.awaits) === stored.awaits,
  };
  const isObject = stored === meta;
  return Object.entries(readable).flatMap(([member, isReadable]) => (isObject && isReadable ? [] : [member]));
}

/** Returns the version of the definition that a job was enqueued with; 1 if none is stored, or an invalid one. */
export function definitionVersion(meta: JobMeta | null): number {
  if (meta === null) return 1;
  const { version } = asObject(meta);
  return isWithin(version, bounds.version) ? version : 1;
}

function isCondition(value: unknown): value is ContinuationCondition {
  return (continuationConditions as readonly unknown[]).includes(value);
}

function isWithin(value: unknown, { min, max }: Bounds): value is number {
  return Number.isInteger(value) && (value as number) >= min && (value as number) <= max;
}

/** Returns the limit that applies to a stored one: the nearest valid limit, or 1 if it is not a number. */
function readLimit(value: unknown): number {
  return typeof value === 'number' ? Math.trunc(clamp(value, bounds.concurrencyLimit)) : 1;
}

/** Returns the trace id of a `traceparent`: 32 hexadecimal digits. `null` if the value is not a valid `traceparent`. */
export function readTraceId(value: unknown): string | null {
  return readTraceparent(value)?.slice(3, 35) ?? null;
}

function readTraceparent(value: unknown): string | null {
  return typeof value === 'string' && isTraceparent(value) ? value : null;
}

/** Metadata as it may be stored: any member can have any value. */
type StoredMeta = Readonly<Partial<Record<keyof JobMeta, unknown>>>;

/** Returns stored metadata if it is an object, otherwise `{}`. Stored metadata is not guaranteed to be an object. */
function asObject(meta: unknown): StoredMeta {
  return typeof meta === 'object' && meta !== null && !Array.isArray(meta) ? meta : {};
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

const form = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Returns whether a string is a `traceparent` as defined by W3C Trace Context (Level 1, § 3.2). */
export function isTraceparent(text: string): boolean {
  return form.test(text);
}

/** @throws {RangeError} if the text is not a valid `traceparent` */
export function checkTraceparent(text: string): void {
  if (!isTraceparent(text)) {
    throw new RangeError(
      'traceparent must have the form 00-<32 hex digits>-<16 hex digits>-<2 hex digits> (W3C Trace Context)',
    );
  }
}
