import type { Queue } from '../job/job.js';
import type { QueueLimits } from '../job/queue-limits.js';
import type { ActionOptions } from './audit-log.js';
import type { TransactionClient } from './transaction.js';

/** The settings of a queue that operators control. */
export type QueueSettings = Pick<Queue, 'pausedAt' | 'concurrencyLimit' | 'rateLimit'>;

/** Options of an operator's action on a queue. */
export interface QueueControlOptions<Result> extends ActionOptions<Result> {
  /** The settings that the operator saw. The action is carried out only if the queue still has them. */
  readonly seen?: QueueSettings | undefined;
}

/** The settings of a queue before they were changed; `null` if nothing was changed because they differ from `seen`. */
export type QueueControlResult = QueueSettings | null;

/** The result of deleting a queue. */
export type QueueDeletion =
  | 'deleted'
  /** The queue has unfinished jobs; nothing changed. */
  | 'holds-jobs'
  /** A server consumes the queue; nothing changed. */
  | 'served'
  /** The settings differ from those in `seen`; nothing changed. */
  | 'changed'
  | 'unknown';

/** Reads and controls queues. Pausing, resuming and limiting create the queue if it does not exist. */
export interface Queues {
  /**
   * Returns `null` if the queue does not exist. With a caller's transaction, the settings include what that
   * transaction has written; the counts include only what is committed.
   */
  find(name: string, transaction?: TransactionClient): Promise<Queue | null>;
  /** Lists all queues by name. */
  list(): Promise<Queue[]>;
  /** Stops servers from claiming jobs of a queue; running jobs finish. */
  pause(name: string, options?: QueueControlOptions<QueueControlResult>): Promise<QueueControlResult>;
  /** Reverts {@link pause}. */
  resume(name: string, options?: QueueControlOptions<QueueControlResult>): Promise<QueueControlResult>;
  /**
   * Sets or removes a queue's limits for all servers, from their next claim on; running jobs finish.
   *
   * @throws {RangeError} if a number is out of bounds
   */
  limit(
    name: string,
    limits: QueueLimits,
    options?: QueueControlOptions<QueueControlResult>,
  ): Promise<QueueControlResult>;
  /**
   * Deletes a queue that has neither unfinished jobs nor consumers: it loses its settings, is no longer listed, and
   * no longer counts towards the maximum number of queues. Its finished jobs remain under its name. It is created
   * again, with default settings, when it gets a job, a consumer or a setting. A queue that has been idle for {@link
   * idleQueueDays} days is deleted in the same way.
   */
  delete(name: string, options?: QueueControlOptions<QueueDeletion>): Promise<QueueDeletion>;
}
