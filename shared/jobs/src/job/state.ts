/** All job states, in the order of the life cycle. */
export const jobStates = [
  'scheduled',
  'awaiting',
  'enqueued',
  'processing',
  'done',
  'failed',
  'cancelled',
] as const;

/**
 * The state of a job:
 *
 * - `scheduled`: waits for its time: because of a delay, before a retry, or because its handler sleeps or waits for a
 *   signal, at the latest until then
 * - `awaiting`: waits for other jobs or batches
 * - `enqueued`: ready for the next free server, unless its concurrency key blocks it
 * - `processing`: a server has a lease on the job and runs its handler
 * - `done`, `failed`, `cancelled`: finished; the job never runs again unless an operator retries it
 */
export type JobState = (typeof jobStates)[number];

export const unfinishedStates = [
  'scheduled',
  'awaiting',
  'enqueued',
  'processing',
] as const satisfies readonly JobState[];

export const finishedStates = ['done', 'failed', 'cancelled'] as const satisfies readonly JobState[];

export type FinishedState = (typeof finishedStates)[number];

export function isFinished(state: JobState): state is FinishedState {
  return (finishedStates as readonly JobState[]).includes(state);
}
