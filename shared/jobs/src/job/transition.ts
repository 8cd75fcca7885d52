import type { JobError } from './job.js';
import type { JobState } from './state.js';

/**
 * Why a job entered a state:
 *
 * - `created`: it was enqueued
 * - `due`: its scheduled time was reached
 * - `parents-ended`: the last of its parents ended
 * - `claimed`: a server claimed it
 * - `done`, `failed`: an attempt ended this way. After `failed`, the job is `scheduled` if it will be retried
 * - `cancelled`: an attempt ended this way, an operator cancelled the job, or a parent did not end as required
 * - `lost`: the server died or stopped renewing the lease
 * - `released`: it was returned to its queue, for example because the server is stopping; the attempt does not count
 * - `snoozed`: its handler postponed it
 * - `suspended`: its handler sleeps, or waits for a signal or another job; the attempt does not count
 * - `retried`, `run`, `rescheduled`: an operator retried it, made it ready early, or changed its time
 */
export type TransitionReason =
  | 'created'
  | 'due'
  | 'parents-ended'
  | 'claimed'
  | 'done'
  | 'failed'
  | 'cancelled'
  | 'lost'
  | 'released'
  | 'snoozed'
  | 'suspended'
  | 'retried'
  | 'run'
  | 'rescheduled';

/** Number of a job's transitions that are listed, unless a caller asks for fewer. */
export const maxListedTransitions = 1_000;

/** One step of a job's life cycle. */
export interface Transition {
  /**
   * Rises with each transition of the job, starting at 1 and possibly with gaps. Constant, unless earlier transitions of
   * the job expire.
   */
  readonly number: number;
  /** The state that the job entered. */
  readonly state: JobState;
  readonly reason: TransitionReason;
  readonly at: Date;
  /** Number of the attempt that this step started or ended; `null` if there is none. */
  readonly attempt: number | null;
  /** Id of the server that ran this attempt; `null` if `attempt` is `null`. */
  readonly serverId: string | null;
  /** When the job becomes ready; `null` unless the state is `scheduled`. */
  readonly runAt: Date | null;
  readonly error: JobError | null;
}
