/** Every state a job can be in, in the order people meet them. */
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
 * - `scheduled`: waits for its time (a delay, or the pause before a retry)
 * - `awaiting`: waits for another job
 * - `enqueued`: ready; the next free server takes it
 * - `processing`: a server holds a lease on it and runs its handler
 * - `done`, `failed`, `cancelled`: finished; the job never runs again unless an operator retries it
 */
export type JobState = (typeof jobStates)[number];

/** The states a job ends in. */
export const finishedStates = ['done', 'failed', 'cancelled'] as const satisfies readonly JobState[];

export type FinishedState = (typeof finishedStates)[number];

export function isFinished(state: JobState): state is FinishedState {
  return (finishedStates as readonly JobState[]).includes(state);
}
