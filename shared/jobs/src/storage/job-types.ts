import type { PauseOptions, PauseState } from '../job/pause.js';
import type { ActionOptions } from './audit-log.js';

/** A job type that is paused. */
export interface PausedType extends PauseState {
  readonly name: string;
  readonly pausedAt: Date;
}

/** Options for pausing or resuming a job type. `audit` receives the pause that was in effect before, or `null`. */
export type JobTypeOptions = ActionOptions<PausedType | null>;

/** Options for pausing a job type. */
export interface PauseTypeOptions extends JobTypeOptions, PauseOptions {}

/** Controls all jobs of one name, across queues. */
export interface JobTypes {
  /** Lists the paused job types, sorted by name. */
  listPaused(): Promise<PausedType[]>;
  /**
   * Stops servers from claiming jobs of this name until the job type is resumed or the pause ends. Running jobs finish,
   * and other jobs overtake the paused ones in their queues. Returns the pause that was in effect before; `null` if
   * there was none.
   *
   * @throws {RangeError} if the reason or the end is out of bounds
   */
  pause(name: string, options?: PauseTypeOptions): Promise<PausedType | null>;
  /**
   * Ends a pause: ready jobs of this name can be claimed again immediately. Returns the pause that was in effect;
   * `null` if there was none.
   */
  resume(name: string, options?: JobTypeOptions): Promise<PausedType | null>;
}
