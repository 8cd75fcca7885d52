import { notFound } from '../../http/problem.js';
import type { Actions } from '../../actions/action.js';

export const recurringActions: Actions = {
  '/recurring/:target/trigger': {
    role: 'operator',
    flash: 'The recurring job has enqueued this job.',
    perform: async ({ recurring }, { target }) => ({
      next: `jobs/${found(await recurring.trigger(target)).id}`,
    }),
  },
  '/recurring/:target/pause': {
    role: 'operator',
    flash: 'The recurring job is paused.',
    perform: async ({ recurring }, { target }) => after(found(await recurring.pause(target))),
  },
  '/recurring/:target/resume': {
    role: 'operator',
    flash: 'The recurring job is resumed.',
    perform: async ({ recurring }, { target }) => after(found(await recurring.resume(target))),
  },
};

function found<Found>(result: Found | null): Found {
  if (result !== null) return result;
  throw notFound('There is no such recurring job', 'It may just have been removed. Nothing was changed.');
}

function after({ id }: { readonly id: string }): { next: string } {
  return { next: `recurring/${encodeURIComponent(id)}` };
}
