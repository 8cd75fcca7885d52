import type { ActionOptions } from './audit-log.js';

/** A job type that is paused. */
export interface PausedType {
  readonly name: string;
  readonly pausedAt: Date;
}

/** Options for pausing or resuming a job type. The audit receives the time since which the type had been paused, or `null`. */
export type JobTypeOptions = ActionOptions<Date | null>;

/** Controls all jobs of one name, across queues. */
export interface JobTypes {
  /** Lists the paused job types by name. */
  listPaused(): Promise<PausedType[]>;
  /**
   * Stops servers from claiming jobs of this name. Running jobs finish, and other jobs overtake the paused ones in their
   * queues. Returns the time since which the type was already paused; `null` if it was not.
   */
  pause(name: string, options?: JobTypeOptions): Promise<Date | null>;
  /**
   * Reverts {@link pause}: jobs of this name that are ready can be claimed at once. Returns the time since which the type was
   * paused; `null` if it was not.
   */
  resume(name: string, options?: JobTypeOptions): Promise<Date | null>;
}
