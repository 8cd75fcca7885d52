import type { Concurrency } from '../job/concurrency.js';
import type { Uniqueness } from '../job/uniqueness.js';
import type { TransactionClient } from '../storage/transaction.js';
import type { AfterOption } from './after-option.js';

export interface EnqueueOptions {
  /** Overrides the definition's queue. */
  queue?: string;
  /** Overrides the definition's priority; lower runs first; −100 to 100. */
  priority?: number;
  /** Overrides the definition's maximum number of attempts. */
  maxAttempts?: number;
  /** Overrides the definition's time limit of one attempt, in milliseconds. */
  timeoutMs?: number;
  /** The trace that the job belongs to (W3C Trace Context); its handler finds it in `job.traceparent`. */
  traceparent?: string;
  /** Labels to search by: at most 20, of 1 to 100 characters each. */
  tags?: readonly string[];
  /**
   * At most `limit` jobs of this queue with this key run at once, over all servers. Instead of the definition's; `null` for
   * no limit.
   */
  concurrency?: Concurrency | null;
  /**
   * No job is created while another of this name in the same queue holds the same key. Instead of the definition's; `null`
   * for none.
   */
  unique?: Uniqueness | null;
  /**
   * The same key again, within 24 hours by default, gives the same job, whatever became of it; with another name or other
   * arguments an {@link IdempotencyConflictError}. 1 to 200 characters, each caller's own: a UUID, the id of a request.
   */
  idempotencyKey?: string;
  /** The jobs or batches that must end first. */
  after?: AfterOption;
  /**
   * The queues that the caller can see on whose behalf this job is enqueued; all of them unless given. Parents elsewhere
   * count as unknown, and so do batches that exist already.
   */
  scope?: readonly string[];
  /**
   * The answer must show the job that holds its key: if that one has been deleted, or is out of `scope`, nothing is enqueued.
   * `false` by default.
   */
  showHolder?: boolean;
  /**
   * Not before this many milliseconds have passed, which count from the end of its last parent, if it has one: 0 to
   * 315 360 000 000, ten years. Excludes `runAt`.
   */
  delayMs?: number;
  /** Not before this time, from 1970 to 9999. A time in the past counts as the time of the call. */
  runAt?: Date;
  /**
   * A `pg` client with a transaction under way: the job becomes visible with its commit and is gone if it rolls back.
   * Nothing tells servers of that moment, so the job starts at their next look, within 200 ms by default.
   */
  transaction?: TransactionClient;
}

/** The job as it was enqueued. */
export interface EnqueuedJob {
  /** UUIDv7; that of the key's holder if no job was created. */
  readonly id: string;
  readonly queue: string;
  /** `false` if another job holds its key and was returned instead. */
  readonly created: boolean;
}
