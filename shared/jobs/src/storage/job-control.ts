import type { Claim, Job } from '../job/job.js';
import type { QueueLimits } from '../job/queue-limits.js';
import type { BatchControl } from './batch-store.js';

/** What became of an operator's wish. */
export type ControlResult =
  /** It is so now, or will be in a moment. `changed` is `false` if it was so already. */
  | { readonly outcome: 'ok'; readonly job: Job; readonly changed: boolean }
  /** The job's state does not allow it; nothing changed. */
  | { readonly outcome: 'illegal'; readonly job: Job }
  | { readonly outcome: 'unknown' };

/** What operators do to single jobs and to queues. */
export interface JobControl extends BatchControl {
  /**
   * Cancels a job. One that waits is cancelled at once. One that runs has its signal aborted within a second and is
   * cancelled when its handler throws; a handler that returns all the same ends the job done. Legal until a job is done
   * or failed.
   */
  cancelJob(id: string): Promise<ControlResult>;
  /** Sends a failed or cancelled job back to its queue, with one more attempt allowed if it has none left. */
  retryJob(id: string): Promise<ControlResult>;
  /** Makes a scheduled job ready now, or one that waits for another, which it then does no longer. */
  runJob(id: string): Promise<ControlResult>;
  /** Gives a scheduled job another time. */
  rescheduleJob(id: string, runAt: Date): Promise<ControlResult>;
  /** Forgets a finished job. The result's `job` is the job as it was. */
  deleteJob(id: string): Promise<ControlResult>;
  /** Servers take no more jobs from a paused queue; those that run go on. Makes the queue if it does not exist. */
  pauseQueue(name: string): Promise<void>;
  resumeQueue(name: string): Promise<void>;
  /**
   * Sets or takes away limits of a queue, for all servers from their next look on; jobs that run go on. Makes the queue if
   * it does not exist.
   *
   * @throws {RangeError} if a number is out of its bounds
   */
  limitQueue(name: string, limits: QueueLimits): Promise<void>;
  /** Which of these claims are to be cancelled. Servers ask about once a second, and when a wake-up says so. */
  cancellations(claims: readonly Claim[]): Promise<Claim[]>;
}
