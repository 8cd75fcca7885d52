import type { Claim, Job, Queue } from '../job/job.js';
import type { QueueLimits } from '../job/queue-limits.js';
import type { BatchControl } from './batch-store.js';
import type { TransactionClient } from './transaction.js';

/** The conditions under which something is done to a job, a batch or a server. */
export interface ControlOptions<Subject = Job> {
  /**
   * Gets the subject as it is before anything is done to it; nobody else changes it in between. What it throws, nothing has been
   * changed then, the control rejects with.
   */
  readonly check?: ((subject: Subject) => void) | undefined;
  /** Of the caller's: what is done is done when it commits, and undone if it rolls back. Memory storage has none: a `TypeError`. */
  readonly transaction?: TransactionClient | undefined;
}

/** What became of an operator's wish. */
export type ControlResult =
  /** It is so now, or will be in a moment. `changed` is `false` if it was so already. */
  | { readonly outcome: 'ok'; readonly job: Job; readonly changed: boolean }
  /** The job's state does not allow it; nothing changed. */
  | { readonly outcome: 'illegal'; readonly job: Job }
  | { readonly outcome: 'unknown' };

/** What operators set of a queue. */
export type QueueSettings = Pick<Queue, 'pausedAt' | 'concurrencyLimit' | 'rateLimit'>;

/** What became of a queue that was to be deleted. */
export type QueueDeletion =
  | 'deleted'
  /** Jobs of it have not finished; nothing changed. */
  | 'holds-jobs'
  /** A server takes jobs from it; nothing changed. */
  | 'served'
  /** Its settings are not those that were seen; nothing changed. */
  | 'changed'
  | 'unknown';

/** What operators do to single jobs and to queues. */
export interface JobControl extends BatchControl {
  /**
   * Cancels a job. One that waits is cancelled at once. One that runs has its signal aborted within a second and is
   * cancelled when its handler throws; a handler that returns all the same ends the job done. Legal until a job is done
   * or failed.
   */
  cancelJob(id: string, options?: ControlOptions): Promise<ControlResult>;
  /** Sends a failed or cancelled job back to its queue, with one more attempt allowed if it has none left. */
  retryJob(id: string, options?: ControlOptions): Promise<ControlResult>;
  /** Makes a scheduled job ready now, or one that waits for another, which it then does no longer. */
  runJob(id: string, options?: ControlOptions): Promise<ControlResult>;
  /** Gives a scheduled job another time. */
  rescheduleJob(id: string, runAt: Date): Promise<ControlResult>;
  /** Forgets a finished job. The result's `job` is the job as it was. */
  deleteJob(id: string, options?: ControlOptions): Promise<ControlResult>;
  /**
   * Servers take no more jobs from a paused queue; those that run go on. Makes the queue if it does not exist.
   *
   * @param seen only if it is still paused or not as here, with these limits; `false`: it is not, and nothing was changed
   * @param transaction as in {@link ControlOptions}
   */
  pauseQueue(name: string, seen?: QueueSettings, transaction?: TransactionClient): Promise<boolean>;
  /** The opposite of {@link pauseQueue}. */
  resumeQueue(name: string, seen?: QueueSettings, transaction?: TransactionClient): Promise<boolean>;
  /**
   * Sets or takes away limits of a queue, for all servers from their next look on; jobs that run go on. Makes the queue if
   * it does not exist.
   *
   * @param seen as in {@link pauseQueue}
   * @throws {RangeError} if a number is out of its bounds
   */
  limitQueue(name: string, limits: QueueLimits, seen?: QueueSettings): Promise<boolean>;
  /**
   * Deletes a queue that holds no unfinished jobs and that no server takes jobs from: it loses its settings, is listed no longer and
   * does not count towards the most queues there may be. Its finished jobs stay, and are found under its name. It comes back, without
   * settings, with the next job that is enqueued into it, the next server that takes jobs from it, or when one of these
   * methods sets something of it. A queue that has been idle for {@link idleQueueDays} days is retired in the same way.
   *
   * @param seen as in {@link pauseQueue}
   */
  deleteQueue(name: string, seen?: QueueSettings): Promise<QueueDeletion>;
  /** Which of these claims are to be cancelled. Servers ask about once a second, and when a wake-up says so. */
  cancellations(claims: readonly Claim[]): Promise<Claim[]>;
}
