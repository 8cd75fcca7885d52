import type { RecurringJob } from '../recurring/recurring-job.js';
import type { TriggeredJob } from '../storage/recurring-jobs.js';
import { noFields, operation } from './operation.js';
import type { Facts } from './operation-description.js';
import {
  factsOfPause,
  factsOfResumption,
  type PauseFields,
  pauseOptionsOf,
  pausing,
  resuming,
} from './pauses.js';

/** The operations on a recurring job. */
export const recurringJobOperations = {
  trigger: operation<typeof noFields, RecurringJob, TriggeredJob | null, string, TriggeredJob>({
    on: 'recurring',
    name: 'trigger',
    summary: 'Enqueue a job now, in addition to the schedule',
    note: 'Also possible while it is paused, and while its previous job is unfinished.',
    done: 'triggered',
    message: 'The recurring job has enqueued this job.',
    role: 'operator',
    fields: noFields,
    change: ({ recurring }, { target }, options) => recurring.trigger(target, options),
    facts: (triggered): Facts => ({ outcome: triggered === null ? 'unknown' : 'done' }),
    after: (_storage, _call, triggered: TriggeredJob | null) => triggered,
  }),
  pause: operation<typeof PauseFields, RecurringJob, RecurringJob | null>({
    ...pausing,
    on: 'recurring',
    summary: 'Pause a recurring job',
    message: 'The recurring job is paused.',
    change: ({ recurring }, call, options) =>
      recurring.pause(call.target, { ...options, ...pauseOptionsOf(call) }),
    facts: (before, call) => (before === null ? { outcome: 'unknown' } : factsOfPause(before, call)),
    after: same,
  }),
  resume: operation<typeof noFields, RecurringJob, RecurringJob | null>({
    ...resuming,
    on: 'recurring',
    summary: 'Resume a recurring job at its next due time',
    message: 'The recurring job is resumed.',
    fields: noFields,
    change: ({ recurring }, { target }, options) => recurring.resume(target, options),
    facts: (before) => (before === null ? { outcome: 'unknown' } : factsOfResumption(before)),
    after: same,
  }),
  delete: operation<typeof noFields, RecurringJob, boolean>({
    on: 'recurring',
    name: 'delete',
    summary: 'Delete a recurring job',
    note: 'The jobs that it has enqueued are kept. One that is defined in code is added again when its application starts.',
    done: 'deleted',
    message: 'The recurring job is deleted.',
    role: 'admin',
    isReasoned: true,
    fields: noFields,
    change: ({ recurring }, { target }, options) => recurring.remove(target, options),
    facts: (existed) => ({ outcome: existed ? 'done' : 'unknown' }),
    after: () => null,
  }),
};

function same(_storage: unknown, _call: unknown, result: RecurringJob | null): RecurringJob | null {
  return result;
}
