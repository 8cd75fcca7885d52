import type { JobError } from './job.js';
import type { JobState } from './state.js';

/**
 * Why a job came to a state.
 *
 * - `created`: by its enqueuer
 * - `due`: its time came; `parents-ended`: what it waited for has ended
 * - `claimed`: a server took it
 * - `done`, `failed`, `cancelled`: an attempt ended so, or somebody cancelled it. After `failed` it is `scheduled` if attempts are left
 * - `lost`: its server died or stopped renewing its lease; `released`: its server gave it back, the attempt not counted
 * - `snoozed`: its handler asked for another time
 * - `retried`, `run`, `rescheduled`: by an operator
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
  | 'retried'
  | 'run'
  | 'rescheduled';

/** One step of a job's life. */
export interface Transition {
  /** The state that it came to. */
  readonly state: JobState;
  readonly reason: TransitionReason;
  readonly at: Date;
  /** The attempt that began or ended with it; `null` if none did. */
  readonly attempt: number | null;
  /** The server of that attempt. */
  readonly serverId: string | null;
  /** Until when it is to wait; `null` unless the state is `scheduled`. */
  readonly runAt: Date | null;
  readonly error: JobError | null;
}
