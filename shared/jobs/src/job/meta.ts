import { bounds, checkText } from './bounds.js';
import { isTraceparent } from './traceparent.js';

/** Optional properties of a job. Stored as `null` if the job has none. */
export interface JobMeta {
  /** Labels for finding the job. */
  readonly tags?: readonly string[];
  readonly batchId?: string;
  /** Ids of the jobs or batches that this job depends on. */
  readonly parentIds?: readonly string[];
  readonly recurringJobId?: string;
  readonly idempotencyKey?: string;
  readonly concurrencyKey?: string;
  /** Maximum number of jobs with this concurrency key that run at once in the queue. */
  readonly concurrencyLimit?: number;
  /** A W3C Trace Context `traceparent`. */
  readonly traceparent?: string;
  /** Time limit per attempt, in milliseconds. */
  readonly timeoutMs?: number;
  /** `true` if other jobs depend on this one; absent otherwise. */
  readonly hasDependents?: true;
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
  batchId: string | null;
  /** Id of the recurring job that enqueued this job; `null` if none did. */
  recurringJobId: string | null;
  idempotencyKey: string | null;
  /** The trace id of the job's `traceparent`: 32 hexadecimal digits. `null` if the job has no valid `traceparent`. */
  traceId: string | null;
  /** Limits how many jobs with the same key run at once in a queue; `null` if the job has no key. */
  concurrencyKey: string | null;
}

/**
 * Converts a job's stored metadata to members of `Job`. Never throws: ignores malformed members and malformed list
 * entries.
 */
export function readMeta(meta: JobMeta | null): JobMetaFields {
  const { tags, batchId, parentIds, recurringJobId, idempotencyKey, concurrencyKey, traceparent } =
    asObject(meta);
  return {
    tags: Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string') : [],
    batchId: textOf(batchId),
    parentId: Array.isArray(parentIds) ? textOf(parentIds[0]) : null,
    parentIds: Array.isArray(parentIds) ? parentIds.filter((id) => typeof id === 'string') : [],
    recurringJobId: textOf(recurringJobId),
    idempotencyKey: textOf(idempotencyKey),
    traceId: typeof traceparent === 'string' && isTraceparent(traceparent) ? traceparent.slice(3, 35) : null,
    concurrencyKey: textOf(concurrencyKey),
  };
}

/**
 * Returns the names of the `Job` members with a malformed stored value. {@link readMeta} ignores such values. If the
 * metadata is not an object, returns the names of all members.
 */
export function unreadableMeta(meta: JobMeta | null): string[] {
  if (meta === null) return [];
  const { tags, batchId, parentIds, recurringJobId, idempotencyKey, concurrencyKey, traceparent } =
    asObject(meta);
  const isText = (value: unknown): boolean => value === undefined || typeof value === 'string';
  const isList = (value: unknown): boolean =>
    value === undefined || (Array.isArray(value) && value.every((each) => typeof each === 'string'));
  const readable: Record<keyof JobMetaFields, boolean> = {
    tags: isList(tags),
    batchId: isText(batchId),
    parentId: isList(parentIds) || (Array.isArray(parentIds) && isText(parentIds[0])),
    parentIds: isList(parentIds),
    recurringJobId: isText(recurringJobId),
    idempotencyKey: isText(idempotencyKey),
    traceId: traceparent === undefined || (typeof traceparent === 'string' && isTraceparent(traceparent)),
    concurrencyKey: isText(concurrencyKey),
  };
  const isObject = asObject(meta) === meta;
  return Object.entries(readable).flatMap(([member, isReadable]) => (isObject && isReadable ? [] : [member]));
}

/** Returns stored metadata if it is an object, otherwise `{}`. Stored metadata is not guaranteed to be an object. */
function asObject(meta: unknown): Record<string, unknown> {
  return typeof meta === 'object' && meta !== null && !Array.isArray(meta)
    ? (meta as Record<string, unknown>)
    : {};
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
