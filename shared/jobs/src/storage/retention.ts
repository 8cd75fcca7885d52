import type { FinishedState } from '../job/state.js';

/** How long finished jobs are kept, in days, by final state. */
export type RetentionDays = Readonly<Record<FinishedState, number>>;

/**
 * Number of days after which an idle queue is deleted. A queue is idle while it has no unfinished jobs, consumers,
 * settings or recurring jobs.
 */
export const idleQueueDays = 30;

/**
 * Returns the retention periods with defaults filled in: 7 days for `done` and `cancelled`, 30 for `failed`.
 *
 * @throws {RangeError} if a value is not an integer from 1 to 3650; the message names the option
 */
export function retentionOf(days: Partial<RetentionDays> = {}): RetentionDays {
  const all = { done: 7, failed: 30, cancelled: 7, ...days };
  for (const [state, value] of Object.entries(all)) {
    if (!Number.isInteger(value) || value < 1 || value > 3_650)
      throw new RangeError(`retentionDays.${state} must be an integer from 1 to 3650, not ${value}`);
  }
  return all;
}
