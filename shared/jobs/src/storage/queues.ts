import type { Queue } from '../job/job.js';
import type { QueueLimits } from '../job/queue-limits.js';
import type { ActionOptions } from './audit-log.js';
import type { TransactionClient } from './transaction.js';

/** The settings of a queue that operators control. */
export type QueueSettings = Pick<Queue, 'pausedAt' | 'concurrencyLimit' | 'rateLimit'>;

/** Options of an operator's action on a queue. */
export interface QueueControlOptions<Result> extends ActionOptions<Result> {
  /** The action is carried out only while the queue still has these settings. */
  readonly seen?: QueueSettings | undefined;
}

/** The settings of a queue before they were changed; `null`: they are not those in `seen`, and nothing was changed. */
export type QueueControlResult = QueueSettings | null;

/** The result of deleting a queue. */
export type QueueDeletion =
  | 'deleted'
  /** Some of its jobs have not finished; nothing changed. */
  | 'holds-jobs'
  /** A server works on it; nothing changed. */
  | 'served'
  /** Its settings are not those that were seen; nothing changed. */
  | 'changed'
  | 'unknown';

/** Reads and controls queues. Pausing, resuming and limiting create a queue that does not exist. */
export interface Queues {
  /** `null` if there is no such queue. A caller's transaction sees the settings that it has written; the counts are those that everybody sees. */
  find(name: string, transaction?: TransactionClient): Promise<Queue | null>;
  /** All queues, by name. */
  list(): Promise<Queue[]>;
  /** Stops servers from claiming jobs of a queue; running jobs will finish. */
  pause(name: string, options?: QueueControlOptions<QueueControlResult>): Promise<QueueControlResult>;
  /** The opposite of {@link pause}. */
  resume(name: string, options?: QueueControlOptions<QueueControlResult>): Promise<QueueControlResult>;
  /**
   * Sets or removes limits of a queue, for all servers from their next claim on; running jobs will finish.
   *
   * @throws {RangeError} if a number is out of its bounds
   */
  limit(
    name: string,
    limits: QueueLimits,
    options?: QueueControlOptions<QueueControlResult>,
  ): Promise<QueueControlResult>;
  /**
   * Deletes a queue that holds no unfinished jobs and that no server works on: it loses its settings, is no longer listed and
   * no longer counts towards the maximum number of queues. Its finished jobs remain, under its name. It returns, without
   * settings, with the next job, the next server that works on it, or the next setting. A queue that has been idle for
   * {@link idleQueueDays} days is retired in the same way.
   */
  delete(name: string, options?: QueueControlOptions<QueueDeletion>): Promise<QueueDeletion>;
}
