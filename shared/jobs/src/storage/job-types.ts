import type { ActionOptions } from './audit-log.js';

/** A job type that is paused. */
export interface PausedType {
  /** The name of its jobs. */
  readonly name: string;
  readonly pausedAt: Date;
}

/** The options of pausing and resuming a job type; the audit gets when it had been paused, `null` if it was not. */
export type JobTypeOptions = ActionOptions<Date | null>;

/** Controls all jobs of one name, in whatever queues they are. */
export interface JobTypes {
  /** Lists the paused job types by name. */
  listPaused(): Promise<PausedType[]>;
  /**
   * Stops servers from claiming jobs of this name; running jobs finish, and other jobs of their queues pass them. Returns when it had been
   * paused; `null` if it was not.
   */
  pause(name: string, options?: JobTypeOptions): Promise<Date | null>;
  /** Reverts {@link pause}; its ready jobs can be claimed at once. Returns when it had been paused; `null` if it was not. */
  resume(name: string, options?: JobTypeOptions): Promise<Date | null>;
}
