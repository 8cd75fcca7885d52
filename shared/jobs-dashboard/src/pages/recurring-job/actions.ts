import type { RecurringJob } from '@longshore/jobs';
import { notFound } from '../../http/problem.js';
import type { ActionResult, Actions } from '../../actions/action.js';
import { isNewPause, pauseIn, pauseIntent } from '../../actions/pausing.js';

export const recurringActions: Actions = {
  '/recurring/:target/trigger': {
    role: 'operator',
    flash: 'The recurring job has enqueued this job.',
    perform: ({ recurring }, { target }, audit) =>
      recurring.trigger(target, { audit: audit((job) => ({ next: `jobs/${found(job).id}` })) }),
  },
  '/recurring/:target/pause': {
    role: 'operator',
    isReasoned: true,
    flash: 'The recurring job is paused.',
    intent: pauseIntent,
    perform: ({ recurring }, request, audit) =>
      recurring.pause(request.target, {
        ...pauseIn(request),
        audit: audit((job) => after(found(job), isNewPause(job, request))),
      }),
  },
  '/recurring/:target/resume': {
    role: 'operator',
    flash: 'The recurring job is resumed.',
    perform: ({ recurring }, { target }, audit) =>
      recurring.resume(target, { audit: audit((job) => after(found(job), found(job).pausedAt !== null)) }),
  },
};

function found<Found>(result: Found | null): Found {
  if (result !== null) return result;
  throw notFound('There is no such recurring job', 'It may just have been removed. Nothing was changed.');
}

function after({ id }: RecurringJob, changed: boolean): ActionResult {
  return { next: `recurring/${encodeURIComponent(id)}`, changed };
}
