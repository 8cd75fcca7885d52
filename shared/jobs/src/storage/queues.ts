import type { Queue } from '../job/job.js';
import type { QueueLimits } from '../job/queue-limits.js';
import type { TransactionClient } from './transaction.js';

/** The settings of a queue that operators control. */
export type QueueSettings = Pick<Queue, 'pausedAt' | 'concurrencyLimit' | 'rateLimit'>;

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

/**
 * Reads and controls queues. Pausing, resuming and limiting create the queue if it does not exist. Given `seen`, an
 * action applies only if the queue's settings are still those. Given a transaction of the caller's, it takes effect
 * on commit.
 */
export interface Queues {
  /**
   * Returns `null` if the queue does not exist. A caller's transaction sees the settings that it has written; the
   * counts are those visible to everybody.
   */
  find(name: string, transaction?: TransactionClient): Promise<Queue | null>;
  /** All queues, by name. */
  list(): Promise<Queue[]>;
  /**
   * Stops servers from claiming jobs of a queue; running jobs finish. Returns `false` if the settings have changed
   * since `seen`.
   */
  pause(name: string, seen?: QueueSettings, transaction?: TransactionClient): Promise<boolean>;
  /** Reverts {@link pause}. */
  resume(name: string, seen?: QueueSettings, transaction?: TransactionClient): Promise<boolean>;
  /**
   * Sets or removes a queue's limits for all servers, from their next claim on; running jobs finish. Returns `false`
   * if the settings have changed since `seen`.
   *
   * @throws {RangeError} if a number is out of bounds
   */
  limit(name: string, limits: QueueLimits, seen?: QueueSettings): Promise<boolean>;
  /**
   * Deletes a queue without unfinished jobs and consumers: it loses its settings, is no longer listed, and no longer
   * counts towards the maximum number of queues. Its finished jobs remain under its name. It returns, without
   * settings, with its next job, consumer or setting. A queue that has been idle for {@link idleQueueDays} days is
   * deleted in the same way.
   */
  delete(name: string, seen?: QueueSettings): Promise<QueueDeletion>;
}
