import type { JsonValue } from '@longshore/jobs';
import {
  maxTokens,
  type QueueDeletion,
  type QueueLimits,
  type QueueSettings,
  type RateLimit,
} from '@longshore/jobs/storage';
import type { Form } from '../../http/form.js';
import { conflict, notFound } from '../../http/problem.js';
import type { Actions, ActionResult } from '../../actions/action.js';
import { isNewPause, pauseIn, pauseIntent } from '../../actions/pausing.js';
import { countField, invalidField, textField } from '../../actions/fields.js';

const DAY_MS = 86_400_000;

const refusals: Readonly<Record<Exclude<QueueDeletion, 'deleted' | 'unknown'>, string>> = {
  'holds-jobs': 'It has unfinished jobs. Nothing was changed.',
  served: 'Servers consume it. Nothing was changed.',
  changed: 'Its settings have just been changed by somebody else. Try again.',
};

export const queueActions: Actions = {
  '/queues/:target/pause': {
    role: 'operator',
    isReasoned: true,
    flash: 'The queue is paused. Its jobs do not start until it is resumed.',
    intent: pauseIntent,
    perform: ({ queues }, request, audit) =>
      queues.pause(request.target, {
        ...pauseIn(request),
        audit: audit((before) => queueAfter(request.target, isNewPause(before, request))),
      }),
  },
  '/queues/:target/resume': {
    role: 'operator',
    flash: 'The queue is resumed.',
    perform: ({ queues }, { target }, audit) =>
      queues.resume(target, {
        audit: audit((before) => queueAfter(target, (before?.pausedAt ?? null) !== null)),
      }),
  },
  '/queues/:target/limit': {
    role: 'operator',
    flash: 'The limits have been updated.',
    intent: ({ form }) => {
      const { concurrencyLimit, rateLimit } = limitsIn(form);
      return { values: { concurrencyLimit, rateLimit: rateLimit === null ? null : { ...rateLimit } } };
    },
    perform: ({ queues }, { target, form }, audit) =>
      queues.limit(target, limitsIn(form), {
        audit: audit((before) => ({ ...queueAfter(target), before: limitsOf(before) })),
      }),
  },
  '/queues/:target/delete': {
    role: 'admin',
    isReasoned: true,
    flash: 'The queue is deleted. Its finished jobs are kept.',
    perform: ({ queues }, { target }, audit) => queues.delete(target, { audit: audit(afterDeletion) }),
  },
};

function afterDeletion(deletion: QueueDeletion): ActionResult {
  if (deletion === 'unknown')
    throw notFound('There is no such queue', 'It may have been deleted already. Nothing was changed.');
  if (deletion !== 'deleted') throw conflict('This queue cannot be deleted', refusals[deletion]);
  return { next: 'queues' };
}

/**
 * Converts stored limits to the format of {@link limitsIn}. The audit page compares old and new limits in this format.
 */
function limitsOf(settings: QueueSettings | null): JsonValue {
  const { concurrencyLimit = null, rateLimit = null } = settings ?? {};
  if (rateLimit === null) return { concurrencyLimit, rateLimit };
  const { jobs, periodMs, burst } = rateLimit;
  return { concurrencyLimit, rateLimit: { jobs, periodMs, ...(burst === jobs ? {} : { burst }) } };
}

/**
 * Parses the limits in a form. A limit is `null` if all of its fields are empty.
 *
 * @throws {Problem} if a field is invalid
 */
function limitsIn(form: Form): Required<QueueLimits> {
  const what = 'The number of concurrent jobs';
  const concurrencyLimit = countField(form, 'concurrency', { what, min: 1, max: maxTokens });
  return { concurrencyLimit, rateLimit: rateLimitIn(form) };
}

function rateLimitIn(form: Form): RateLimit | null {
  const starts = { what: 'The number of starts', min: 1, max: maxTokens };
  const jobs = countField(form, 'jobs', starts);
  const burst = countField(form, 'burst', { ...starts, what: 'The number in a burst' });
  const seconds = textField(form, 'seconds');
  if (jobs === null && burst === null && seconds === '') return null;
  if (jobs === null) throw invalidField(starts.what, 'set if starts are limited');
  const periodMs = Math.round(Number(seconds || 1) * 1_000);
  if (!(periodMs >= 1 && periodMs <= DAY_MS))
    throw invalidField('The time', 'a number of seconds up to a day, 86400');
  return { jobs, periodMs, ...(burst === null ? {} : { burst }) };
}

function queueAfter(name: string, changed = true): ActionResult {
  return { next: `queues/${encodeURIComponent(name)}`, changed };
}
