import type { PausedType } from '../storage/job-control.js';
import { type Call, noFields, operation, type OperableStorage } from './operation.js';
import {
  factsOfPause,
  factsOfResumption,
  type PauseFields,
  pauseOptionsOf,
  pausing,
  resuming,
} from './pauses.js';

/** The operations on a job type. After them, the subject is `null` if the type is not paused. */
export const jobTypeOperations = {
  pause: operation<typeof PauseFields, PausedType, PausedType | null>({
    ...pausing,
    on: 'types',
    summary: 'Pause a job type in all queues; running jobs continue',
    message: 'The job type is paused. Its jobs do not start until it is resumed.',
    change: ({ jobTypes }, call, options) =>
      jobTypes.pause(call.target, { ...options, ...pauseOptionsOf(call) }),
    facts: factsOfPause,
    after: pausedType,
  }),
  resume: operation<typeof noFields, PausedType, PausedType | null>({
    ...resuming,
    on: 'types',
    summary: 'Resume a paused job type',
    message: 'The job type is resumed.',
    fields: noFields,
    change: ({ jobTypes }, { target }, options) => jobTypes.resume(target, options),
    facts: factsOfResumption,
    after: pausedType,
  }),
};

async function pausedType(
  { jobTypes }: OperableStorage,
  { target }: Call<string, unknown, PausedType>,
): Promise<PausedType | null> {
  return (await jobTypes.listPaused()).find(({ name }) => name === target) ?? null;
}
