import type { PauseOptions, PauseState } from '../job/pause.js';
import type { ActionOptions } from './audit-log.js';

/** A paused job type: servers claim no jobs with this name. */
export interface PausedType extends PauseState {
  readonly name: string;
  readonly pausedAt: Date;
}

/** Options for pausing or resuming a job type. `audit` receives the previous pause, or `null` if there was none. */
export type JobTypeOptions = ActionOptions<PausedType | null>;

export interface PauseTypeOptions extends JobTypeOptions, PauseOptions {}

/** Pauses and resumes job types. A job type comprises all jobs with the same name, across all queues. */
export interface JobTypes {
  /** Lists the paused job types, sorted by name in the order of an alphabet. */
  listPaused(): Promise<PausedType[]>;
  /**
   * Stops servers from claiming jobs with this name until the job type is resumed or the pause ends. Jobs that are
   * already running finish. Other jobs overtake the paused ones in their queues. Returns the previous pause; `null` if
   * there was none.
   *
   * @throws {RangeError} if the reason is empty or too long, or the end is in the past or more than a year ahead
   */
  pause(name: string, options?: PauseTypeOptions): Promise<PausedType | null>;
  /**
   * Ends a pause, so that servers claim jobs with this name again. Returns the pause that has ended; `null` if there
   * was none.
   */
  resume(name: string, options?: JobTypeOptions): Promise<PausedType | null>;
}
