import { maxTokens, type RateLimit } from '@longshore/jobs';
import type { Form } from '../http/form.js';
import type { Actions, Deed } from './action.js';
import { countField, invalidField, textField } from './fields.js';

const DAY_MS = 86_400_000;

export const queueActions: Actions = {
  '/queues/:target/pause': {
    role: 'operator',
    perform: async (control, { target }) => {
      await control.pauseQueue(target);
      return queueAfter(target);
    },
  },
  '/queues/:target/resume': {
    role: 'operator',
    perform: async (control, { target }) => {
      await control.resumeQueue(target);
      return queueAfter(target);
    },
  },
  '/queues/:target/limit': {
    role: 'operator',
    perform: async (control, { target, form }) => {
      const concurrencyLimit = countField(form, 'concurrency', {
        what: 'The number of jobs at once',
        least: 1,
        most: maxTokens,
      });
      await control.limitQueue(target, { concurrencyLimit, rateLimit: rateLimitIn(form) });
      return queueAfter(target);
    },
  },
};

/** Fields left empty take a limit away. */
function rateLimitIn(form: Form): RateLimit | null {
  const starts = { what: 'The number of starts', least: 1, most: maxTokens };
  const jobs = countField(form, 'jobs', starts);
  const burst = countField(form, 'burst', { ...starts, what: 'The number at a stroke' });
  const seconds = textField(form, 'seconds');
  if (jobs === null && burst === null && seconds === '') return null;
  if (jobs === null) throw invalidField(starts.what, 'given, if starts are to be limited');
  const periodMs = Math.round(Number(seconds || 1) * 1_000);
  if (!(periodMs >= 1 && periodMs <= DAY_MS))
    throw invalidField('The time', 'a number of seconds up to a day, 86400');
  return { jobs, periodMs, ...(burst === null ? {} : { burst }) };
}

function queueAfter(name: string): Deed {
  return { next: `queues/${encodeURIComponent(name)}` };
}
