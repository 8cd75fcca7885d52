import { isBoolean, isListOf, isString, isText, isTransaction } from '../job/argument-check.js';
import type { Concurrency } from '../job/concurrency.js';
import type { JobDefinition } from '../job/definition.js';
import type { Uniqueness } from '../job/uniqueness.js';
import type { TransactionClient } from '../storage/transaction.js';
import { type OptionNames } from '../job/options.js';
import type { AfterOption } from './after-option.js';

export interface EnqueueOptions {
  /** Overrides the definition's queue. */
  queue?: string;
  /** Overrides the definition's priority; −100 to 100, jobs with lower values run first. */
  priority?: number;
  /** Overrides the definition's maximum number of attempts. */
  maxAttempts?: number;
  /** Overrides the definition's time limit per attempt, in milliseconds. */
  timeoutMs?: number;
  /**
   * The version of the definition for which the arguments were written, 1 to 1,000,000; by default, that of the
   * definition. Arguments of an earlier version are upgraded when an attempt starts.
   */
  version?: number;
  /**
   * The trace that the job belongs to, as a W3C Trace Context `traceparent`. The handler reads it from
   * `job.traceparent`.
   */
  traceparent?: string;
  /** Labels to search by: at most 20, each 1 to 100 characters. */
  tags?: readonly string[];
  /**
   * Limits the jobs with this key in this queue, across all servers: at most `limit` run at once, and no more start than
   * `rate` allows. Overrides the definition's rule; `null` removes the rule.
   */
  concurrency?: Concurrency | null;
  /**
   * Prevents duplicates: at most one job of this name in the same queue holds the key at a time. Overrides the
   * definition's rule; `null` removes the rule.
   */
  unique?: Uniqueness | null;
  /**
   * Makes the call safe to repeat: a later call with the same key and queue returns the same job, whatever the job's
   * state. The key is valid for 24 hours, unless the client sets another period. A call with the same key but another
   * job name or other arguments throws an {@link IdempotencyConflictError}. 1 to 200 characters; use a different key
   * for each request, such as a UUID.
   */
  idempotencyKey?: string;
  /**
   * A key by which signals find the job, such as `order:4711`, if their sender does not know the job's id: 1 to 200
   * characters. Several jobs may have the same key; a signal then goes to all that have not ended.
   */
  correlate?: string;
  /** The jobs and batches that must end before this job can run. */
  after?: AfterOption;
  /**
   * The queues that the caller can see; all queues by default. If set, existing parents in other queues and all
   * existing batches are treated as unknown.
   */
  visibleQueues?: readonly string[];
  /**
   * `true` to include in the result the job that already holds one of the keys, if any. The whole call is then rejected
   * if that job was deleted or is not visible to the caller. `false` by default.
   */
  includeHolder?: boolean;
  /**
   * Delay in milliseconds: 0 to 315,360,000,000 (ten years). If the job has parents, the delay starts when the last
   * parent has ended. Cannot be combined with `runAt`.
   */
  delayMs?: number;
  /** The earliest start, from 1970 to 9999. If this time has passed, the job is ready immediately. */
  runAt?: Date;
  /**
   * An open transaction of the caller, such as a `pg` client. The job becomes visible, and servers are notified, when
   * the transaction commits. If the transaction rolls back, the job is not created.
   */
  transaction?: TransactionClient;
}

/** The options of one job in a call. The transaction applies to the whole call. */
export type RequestedOptions = Omit<EnqueueOptions, 'transaction'>;

export const requestedOptions: OptionNames<RequestedOptions> = {
  queue: true,
  priority: true,
  maxAttempts: true,
  timeoutMs: true,
  version: true,
  traceparent: isString,
  tags: true,
  concurrency: true,
  unique: true,
  idempotencyKey: true,
  correlate: true,
  after: true,
  visibleQueues: isListOf(isText),
  includeHolder: isBoolean,
  delayMs: true,
  runAt: true,
};

export const enqueueOptions: OptionNames<EnqueueOptions> = {
  ...requestedOptions,
  transaction: isTransaction,
};

/**
 * The result of enqueueing a job. Carries the types of the job's arguments and result, so that `JobEvents.waitForEnd`
 * can return a typed job.
 */
export interface EnqueuedJob<Args = unknown, Result = unknown> {
  /** UUIDv7. If no job was created, the id of the job that holds the key. */
  readonly id: string;
  readonly queue: string;
  /** `false` if no job was created, because another job holds one of its keys. */
  readonly created: boolean;
  /** Never set; exists only to carry the type parameters. */
  readonly types?: { readonly args: Args; readonly result: Result };
}

/** The results of one call, in the order of its requests. */
export type EnqueuedJobs<Definitions extends readonly JobDefinition[]> = {
  -readonly [Index in keyof Definitions]: EnqueuedJobOf<Definitions[Index]>;
};

/** The {@link EnqueuedJob} type for a job of this definition. */
export type EnqueuedJobOf<Definition extends JobDefinition> = EnqueuedJob<
  NonNullable<Definition['types']>['input'],
  NonNullable<Definition['types']>['result']
>;
