import type { Queue } from '../job/job.js';
import type { QueueLimits } from '../job/queue-limits.js';
import type { TransactionClient } from './transaction.js';

/** The settings of a queue that operators control. */
export type QueueSettings = Pick<Queue, 'pausedAt' | 'concurrencyLimit' | 'rateLimit'>;

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

/**
 * Reads and controls queues. Pausing, resuming and limiting create a queue that does not exist. Given `seen`, a control acts
 * only while the queue's settings are still those. Given a transaction of the caller's, it acts when that commits.
 */
export interface Queues {
  /** `null` if there is no such queue. A caller's transaction sees the settings that it has written; the counts are those that everybody sees. */
  find(name: string, transaction?: TransactionClient): Promise<Queue | null>;
  /** All queues, by name. */
  list(): Promise<Queue[]>;
  /** Stops servers from claiming jobs of a queue; running jobs will finish. `false`: its settings have changed since `seen`. */
  pause(name: string, seen?: QueueSettings, transaction?: TransactionClient): Promise<boolean>;
  /** The opposite of {@link pause}. */
  resume(name: string, seen?: QueueSettings, transaction?: TransactionClient): Promise<boolean>;
  /**
   * Sets or removes limits of a queue, for all servers from their next claim on; running jobs will finish. `false`: its
   * settings have changed since `seen`.
   *
   * @throws {RangeError} if a number is out of its bounds
   */
  limit(name: string, limits: QueueLimits, seen?: QueueSettings): Promise<boolean>;
  /**
   * Deletes a queue that holds no unfinished jobs and that no server works on: it loses its settings, is no longer listed and
   * no longer counts towards the maximum number of queues. Its finished jobs remain, under its name. It returns, without
   * settings, with the next job, the next server that works on it, or the next setting. A queue that has been idle for
   * {@link idleQueueDays} days is retired in the same way.
   */
  delete(name: string, seen?: QueueSettings): Promise<QueueDeletion>;
}
