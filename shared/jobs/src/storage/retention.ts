import type { FinishedState } from '../job/state.js';

/** Days that finished jobs are kept, by the state they ended in. */
export type RetentionDays = Readonly<Record<FinishedState, number>>;

/** Days after which a queue that holds no unfinished job, has no server and no settings, and that no recurring job names, is retired. */
export const idleQueueDays = 30;

/**
 * With the defaults filled in: 7 days for `done` and `cancelled`, 30 for `failed`.
 *
 * @throws {RangeError} that names the option, unless each is an integer from 1 to 3650
 */
export function retentionOf(days: Partial<RetentionDays> = {}): RetentionDays {
  const all = { done: 7, failed: 30, cancelled: 7, ...days };
  for (const [state, value] of Object.entries(all)) {
    if (!Number.isInteger(value) || value < 1 || value > 3_650)
      throw new RangeError(`retentionDays.${state} is an integer from 1 to 3650, not ${value}`);
  }
  return all;
}
