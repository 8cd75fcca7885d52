import { bounds, checkText } from './bounds.js';

/**
 * What only some jobs carry. A job with none of it has `null` in its place, and pays for none of it.
 */
export interface JobMeta {
  /** Words to find the job by. */
  readonly tags?: readonly string[];
  readonly batchId?: string;
  /** The jobs, or the batch, that it waits or waited for. */
  readonly parentIds?: readonly string[];
  readonly recurringJobId?: string;
  readonly idempotencyKey?: string;
  readonly concurrencyKey?: string;
  /** At most so many jobs of its concurrency key run at once. */
  readonly concurrencyLimit?: number;
  /** W3C Trace Context, as `traceparent`. */
  readonly traceparent?: string;
  /** Milliseconds that one attempt may take. */
  readonly timeoutMs?: number;
  /** Another job waits for this one. */
  readonly followed?: true;
}

/**
 * Each once.
 *
 * @throws {RangeError} if there are more than 20, or if one is no text of 1 to 100 characters
 */
export function checkTags(tags: readonly string[]): string[] {
  if (!Array.isArray(tags) || tags.length > bounds.tags.most)
    throw new RangeError(`tags are at most ${bounds.tags.most} words of 1 to 100 characters`);
  return [...new Set(tags.map((tag: string) => checkText('A tag', tag, bounds.tagLength)))];
}

/** The part of a job that comes from its meta. */
export interface JobLinks {
  /** Words to find it by. */
  tags: string[];
  /** The first of the jobs that it waits or waited for. */
  parentId: string | null;
  batchId: string | null;
  /** The recurring job whose schedule enqueued it. */
  recurringJobId: string | null;
  idempotencyKey: string | null;
}

/** What people read of a job's meta. Never throws: what has another shape than it should have counts as not there. */
export function readMeta(meta: JobMeta | null): JobLinks {
  const { tags, batchId, parentIds, recurringJobId, idempotencyKey } = asObject(meta);
  return {
    tags: Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string') : [],
    batchId: textOf(batchId),
    parentId: Array.isArray(parentIds) ? textOf(parentIds[0]) : null,
    recurringJobId: textOf(recurringJobId),
    idempotencyKey: textOf(idempotencyKey),
  };
}

/** The members of a job that {@link readMeta} cannot read, though there is something. */
export function unreadableMeta(meta: JobMeta | null): string[] {
  if (meta === null) return [];
  if (asObject(meta) !== meta) return ['tags', 'batchId', 'parentId', 'recurringJobId', 'idempotencyKey'];
  const { tags, batchId, parentIds, recurringJobId, idempotencyKey } = asObject(meta);
  const isList = (value: unknown): boolean =>
    Array.isArray(value) && value.every((each) => typeof each === 'string');
  const texts = { batchId, recurringJobId, idempotencyKey };
  return [
    ...(tags === undefined || isList(tags) ? [] : ['tags']),
    ...(parentIds === undefined || isList(parentIds) ? [] : ['parentId']),
    ...Object.entries(texts).flatMap(([member, value]) =>
      value === undefined || typeof value === 'string' ? [] : [member],
    ),
  ];
}

/** What is stored may have any shape, whatever the types say. */
function asObject(meta: unknown): Record<string, unknown> {
  return typeof meta === 'object' && meta !== null && !Array.isArray(meta)
    ? (meta as Record<string, unknown>)
    : {};
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
