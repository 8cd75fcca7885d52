import { bounds, checkDelay, checkInteger, checkText, checkTime } from '../job/bounds.js';
import { type Concurrency, concurrencyMeta } from '../job/concurrency.js';
import type { After } from '../job/continuation.js';
import {
  checkDefinition,
  checkMaxAttempts,
  checkName,
  checkPriority,
  checkTimeout,
} from '../job/definition.js';
import type { IdSource } from '../job/id.js';
import { idempotencyKey, uniqueKey, type Uniqueness } from '../job/uniqueness.js';
import type { JobKey } from '../job/job-key.js';
import type { Due, JsonText, NewJob } from '../job/job.js';
import { checkTags, checkTraceparent, type JobMeta } from '../job/meta.js';
import { checkOptions } from '../job/options.js';
import { checkAfter } from './after-option.js';
import { type RequestedOptions, requestedOptions } from './enqueue-options.js';
import type { EnqueueRequest } from './enqueue-request.js';

/**
 * Validates a request and builds the job to store.
 *
 * @param idempotencyMs how long the job's idempotency key stays valid, in milliseconds
 * @param ids generates the job's id
 * @param earlier the jobs before this one in the same call
 * @throws {InvalidArgumentsError} if the arguments cannot be stored or do not match the definition's schema
 * @throws {TypeError} if `definition` is not a job definition, or an option is unknown
 * @throws {RangeError} if an option is out of bounds, or two options cannot be combined
 */
export function toNewJob(
  { definition, args: input = {}, options = {} }: EnqueueRequest,
  idempotencyMs: number,
  ids: IdSource,
  earlier: readonly NewJob[],
): NewJob {
  checkDefinition('enqueue', definition);
  checkOptions('enqueue', options, requestedOptions);
  const {
    queue = definition.queue,
    priority = definition.priority,
    maxAttempts = definition.maxAttempts,
    version = definition.version,
  } = options;
  if (options.queue !== undefined) checkName('queue', queue);
  if (options.priority !== undefined) checkPriority(priority);
  if (options.maxAttempts !== undefined) checkMaxAttempts(maxAttempts);
  if (options.version !== undefined) checkInteger('version', version, bounds.version);
  const after = options.after === undefined ? null : checkAfter(options.after, earlier);
  const { value: args, text: json } = definition.check(input, version);
  const unique = options.unique === undefined ? definition.uniquenessOf(args) : options.unique;
  if (after !== null && unique?.onConflict === 'replace')
    throw new RangeError(
      'A job with dependencies cannot replace another: use onConflict keep or reject, or leave out after',
    );
  return {
    id: ids.newId(),
    name: definition.name,
    queue,
    priority,
    maxAttempts,
    args: json,
    due: dueTime(options),
    meta: metaOf(options, {
      version,
      after,
      unique,
      concurrency: options.concurrency === undefined ? definition.concurrencyOf(args) : options.concurrency,
    }),
    after,
    keys: keysOf(definition.name, json, unique, options.idempotencyKey, idempotencyMs),
    ...(options.visibleQueues !== undefined && { visibleQueues: options.visibleQueues }),
    ...(options.includeHolder === true && { includesHolder: true }),
  };
}

/** Returns the job's keys, the idempotency key first; `null` if it has none. */
function keysOf(
  name: string,
  args: JsonText,
  unique: Uniqueness | null,
  idempotent: string | undefined,
  idempotencyMs: number,
): JobKey[] | null {
  if (unique === null && idempotent === undefined) return null;
  return [
    ...(idempotent === undefined ? [] : [idempotencyKey(idempotent, name, args, idempotencyMs)]),
    ...(unique === null ? [] : [uniqueKey(name, unique)]),
  ];
}

const noTags: readonly string[] = [];

/** Returns the job's metadata; `null` if no option requires any. */
function metaOf(
  options: RequestedOptions,
  {
    version,
    after,
    unique,
    concurrency,
  }: {
    readonly version: number;
    readonly after: After | null;
    readonly unique: Uniqueness | null;
    readonly concurrency: Concurrency | null;
  },
): JobMeta | null {
  const { timeoutMs, traceparent, idempotencyKey, correlate } = options;
  const tags = options.tags === undefined ? noTags : checkTags(options.tags);
  if (timeoutMs !== undefined) checkTimeout(timeoutMs);
  if (traceparent !== undefined) checkTraceparent(traceparent);
  if (correlate !== undefined) checkText('correlate', correlate, bounds.keyLength);
  const isPlain =
    version === 1 &&
    isBare(options) &&
    after === null &&
    unique === null &&
    concurrency === null &&
    tags.length === 0;
  if (isPlain) return null;
  return {
    ...(version !== 1 && { version }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(traceparent !== undefined && { traceparent }),
    ...(idempotencyKey !== undefined && { idempotencyKey }),
    ...(correlate !== undefined && { correlate }),
    ...(after !== null && parentsMeta(after)),
    ...(unique !== null && { unique: { ...unique } }),
    ...(concurrency !== null && concurrencyMeta(concurrency)),
    ...(tags.length > 0 && { tags }),
  };
}

/** Returns whether none of the options that are stored as they are was given. */
function isBare({ timeoutMs, traceparent, idempotencyKey, correlate }: RequestedOptions): boolean {
  return (
    timeoutMs === undefined &&
    traceparent === undefined &&
    idempotencyKey === undefined &&
    correlate === undefined
  );
}

function parentsMeta({ parents, when }: After): JobMeta {
  return { parentIds: parents, ...(when !== 'onDone' && { parentCondition: when }) };
}

function dueTime({ delayMs, runAt }: RequestedOptions): Due | null {
  if (delayMs !== undefined && runAt !== undefined) throw new RangeError('Give delayMs or runAt, not both');
  if (delayMs !== undefined) checkDelay('delayMs', delayMs);
  if (runAt !== undefined) return { at: checkTime('runAt', runAt) };
  return delayMs === undefined || delayMs === 0 ? null : { inMs: delayMs };
}
