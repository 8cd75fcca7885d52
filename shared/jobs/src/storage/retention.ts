import { checkInteger } from '../job/bounds.js';
import { checkOptions } from '../job/options.js';
import type { FinishedState } from '../job/state.js';

/** How long finished jobs are kept, in days, by final state. */
export type RetentionDays = Readonly<Record<FinishedState, number>>;

/**
 * Number of days after which an idle queue is deleted. A queue is idle while it has no unfinished jobs, consumers,
 * settings or recurring jobs.
 */
export const idleQueueDays = 30;

const defaultDays: RetentionDays = { done: 7, failed: 30, cancelled: 7 };

/**
 * Returns the retention periods with defaults filled in: 7 days for `done` and `cancelled`, 30 for `failed`.
 *
 * @throws {RangeError} if a value is not an integer from 1 to 3650; the message names the option
 */
export function retentionOf(days: Partial<RetentionDays> = {}): RetentionDays {
  checkOptions('retentionDays', days, { done: true, failed: true, cancelled: true });
  const all = { ...defaultDays, ...days };
  for (const [state, value] of Object.entries(all))
    checkInteger(`retentionDays.${state}`, value, { min: 1, max: 3_650 });
  return all;
}
