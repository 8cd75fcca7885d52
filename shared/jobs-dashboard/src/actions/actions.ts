import { parseNumber } from '@longshore/edge';
import {
  batchOperations,
  bulkOperations,
  incidentOperations,
  installationOperations,
  jobOperations,
  type JobSelection as SelectedJobs,
  jobSetOperations,
  jobStepOperations,
  jobTypeOperations,
  type LimitFields,
  type Operation,
  queueOperations,
  recurringJobOperations,
  savedSearchOperations,
  serverOperations,
  setAsideOperations,
} from '@longshore/jobs/operations';
import {
  type BulkAction,
  type BulkOperation,
  bounds,
  isName,
  maxTokens,
  savedSearchBounds,
} from '@longshore/jobs/storage';
import type { Static, TObject } from 'typebox';
import { formFields } from '../http/address.js';
import type { Form } from '../shell/form.js';
import { isDestructive, undoMs } from './bulk-words.js';
import { enqueueingAction } from './enqueueing.js';
import { jobEditActions } from './job-edits.js';
import { type JobSelection, parseConfirmed, parseJobSelection } from '../search/job-selection.js';
import { jobsPath, queryFilters, savedPath } from '../search/filters.js';
import {
  type Action,
  action,
  type ActionRequest,
  countField,
  invalidField,
  pauseEndField,
  timeField,
  textField,
} from './action.js';

/** All forms that change something. */
export const actions: readonly Action[] = [
  action(jobOperations.cancel, { next: (id) => `jobs/${id}` }),
  action(jobOperations.retry, {
    fields: ({ form }) => ({ dependents: form.get('dependents') === 'on' }),
    next: (id) => `jobs/${id}`,
  }),
  action(jobOperations.run, { next: (id) => `jobs/${id}` }),
  action(jobOperations.retry, {
    path: '/jobs/:target/run-anyway',
    fields: () => ({ ignoreDependencies: true }),
    next: (id) => `jobs/${id}`,
  }),
  action(jobStepOperations.signal, { fields: newSignal, next: (id) => `jobs/${id}` }),
  action(jobStepOperations.rerunFrom, {
    fields: ({ form }) => ({ step: nameIn(form, 'step') }),
    next: (id) => `jobs/${id}`,
  }),
  action(jobOperations.reschedule, {
    fields: (request) => ({ runAt: newTime(request).toISOString() }),
    next: (id) => `jobs/${id}`,
  }),
  action(jobOperations.rename, { fields: newName, next: (id) => `jobs/${id}` }),
  ...jobEditActions,
  enqueueingAction,
  // One job is deleted like many: after a delay, in which the operator can undo it.
  action(jobSetOperations.delete, {
    path: '/jobs/:target/delete',
    target: ({ target }) => ({ filter: { id: [target] } }),
    fields: () => ({ delayMs: undoMs }),
    selected: ({ target }) => ({ ids: [target] }),
    next: (_jobs, operation) => `bulk/${operation?.id}`,
  }),
  onMany('cancel', jobSetOperations.cancel, () => ({})),
  onMany('retry', jobSetOperations.retry, ({ form }) => ({ dependents: form.get('dependents') === 'on' })),
  onMany('run', jobSetOperations.run, () => ({})),
  onMany('reschedule', jobSetOperations.reschedule, (request) => ({ runAt: newTime(request).toISOString() })),
  onMany('rename', jobSetOperations.rename, newName),
  onMany('delete', jobSetOperations.delete, () => ({ delayMs: undoMs })),
  action(bulkOperations.stop, { next: (id) => `bulk/${id}` }),
  action(queueOperations.create, {
    path: '/create-queue',
    target: ({ form }) => textField(form, 'name'),
    fields: ({ form }) => limitsIn(form),
    next: (name) => page('queues', name),
  }),
  action(queueOperations.pause, { fields: pauseEnd, next: (name) => page('queues', name) }),
  action(queueOperations.resume, { next: (name) => page('queues', name) }),
  action(queueOperations.limit, {
    fields: ({ form }) => limitsIn(form),
    next: (name) => page('queues', name),
  }),
  action(queueOperations.limitKey, { fields: keyLimit, next: (name) => page('queues', name) }),
  action(queueOperations.delete, { next: () => 'queues' }),
  action(jobTypeOperations.pause, { fields: pauseEnd, next: (name) => page('types', name) }),
  action(jobTypeOperations.resume, { next: (name) => page('types', name) }),
  action(recurringJobOperations.trigger, { next: (_id, job) => `jobs/${job?.id}` }),
  action(recurringJobOperations.pause, { fields: pauseEnd, next: (id) => page('recurring', id) }),
  action(recurringJobOperations.resume, { next: (id) => page('recurring', id) }),
  action(batchOperations.cancel, { next: (id) => `batches/${id}` }),
  action(serverOperations.quiet, { next: (id) => `servers/${id}` }),
  action(serverOperations.stop, { next: (id) => `servers/${id}` }),
  action(setAsideOperations.retry, { next: () => 'set-aside' }),
  action(setAsideOperations.discard, { next: () => 'set-aside' }),
  action(incidentOperations.acknowledge, { next: (id) => page('incidents', id) }),
  action(incidentOperations.mute, { fields: muteEnd, next: (id) => page('incidents', id) }),
  action(incidentOperations.unmute, { next: (id) => page('incidents', id) }),
  action(installationOperations.resume, { next: () => '' }),
  action(savedSearchOperations.save, {
    path: '/searches/save',
    target: ({ form }) => searchName(form),
    fields: ({ form, redact }) => ({ search: searchIn(form, redact) }),
    next: (_name, search) => `jobs?${search?.query}`,
  }),
  action(savedSearchOperations.delete, {
    path: '/searches/delete',
    target: ({ form }) => searchName(form),
    next: (_name, search) => savedPath(search?.query ?? ''),
  }),
];

/** Declares the form of the confirmation page for an operation on many jobs. */
function onMany<Fields extends TObject>(
  name: BulkAction,
  operation: Operation<Fields, BulkOperation, SelectedJobs>,
  fields: (request: ActionRequest) => Static<Fields>,
): Action {
  return action(operation, {
    path: `/bulk-${name}`,
    target: (request) => confirmedJobs(request, name),
    fields,
    selected: (request) => selectionIn(request).auditFilter,
    next: (_jobs, started, { form }) => `bulk/${started?.id}${isFirstStep(form) ? laterStep(form) : ''}`,
  });
}

/** Returns whether the action changes only the jobs in the field `first`, so that the others can follow later. */
function isFirstStep(form: Form): boolean {
  return form.get('step') === 'first';
}

/** Returns the query that makes the page of a first step lead to the confirmation of the next one. */
function laterStep(form: Form): string {
  return `?${new URLSearchParams({ others: form.get('which') ?? '' }).toString()}`;
}

function page(section: string, name: string): string {
  return `${section}/${encodeURIComponent(name)}`;
}

/** Returns until when a warning is muted. Unlike a pause, it has an end. */
function muteEnd({ form, nowMs }: ActionRequest): { until: string } {
  const until = pauseEndField(form, nowMs);
  if (until === null) throw invalidField('The end of the muting', 'chosen or entered');
  return { until: until.toISOString() };
}

function newSignal({ form }: ActionRequest): { name: string; data: unknown } {
  const text = textField(form, 'data');
  try {
    return { name: nameIn(form, 'signal'), data: text === '' ? null : JSON.parse(text) };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw invalidField('The data', 'JSON, such as {"approved": true}, "text" with its quotes, or nothing');
  }
}

/** Returns the name of a signal or a step. It is JSON text, because browsers change line breaks in the values of fields. */
function nameIn(form: Form, field: string): string {
  const name = parseOr(null, form.get(field) ?? '');
  if (typeof name !== 'string') throw invalidField('The name', 'one that the page shows');
  return name;
}

function parseOr(fallback: unknown, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return fallback;
  }
}

function newTime({ form, nowMs }: ActionRequest): Date {
  const { at, zone, now } = timeField(form, 'at', { what: 'The new time', nowMs });
  // Rejects times in the past. A mistaken time or zone would otherwise start the job at once.
  if (at.getTime() > nowMs) return at;
  throw invalidField(
    'The new time',
    `later than ${now}, the current time in ${zone}. To start the job at once, use “Run now”`,
  );
}

function newName({ form }: ActionRequest): { toName: string } {
  const toName = textField(form, 'toName');
  if (isName(toName)) return { toName };
  throw invalidField(
    'The new name',
    '1 to 100 letters, digits, ".", "_", "-" and ":", beginning with a letter or digit',
  );
}

function pauseEnd({ form, nowMs }: ActionRequest): { until?: string } {
  const until = pauseEndField(form, nowMs);
  return until === null ? {} : { until: until.toISOString() };
}

/**
 * Returns the jobs that the form selects, as the confirmation page showed them.
 *
 * @throws {Problem} (400) if the form contains no preview; (422) if the operator must type the action's name to confirm
 *   it, but did not
 */
function confirmedJobs(request: ActionRequest, name: BulkAction): SelectedJobs {
  const { form } = request;
  const { filter } = selectionIn(request);
  const whole = parseConfirmed(form.get('confirmed'));
  const confirmed = isFirstStep(form)
    ? { ...whole, count: { count: filter.id?.length ?? 0, exact: true }, oldestSearchedIds: {} }
    : whole;
  const isTyped = textField(form, 'typed').toLowerCase() === name;
  if (isDestructive(name) && confirmed.count?.exact !== true && !isTyped)
    throw invalidField('The confirmation', `the word “${name}”, because the number of jobs is not exact`);
  return { filter, confirmed };
}

function selectionIn({ form, ...reading }: ActionRequest): JobSelection {
  return parseJobSelection(formFields(form.get(isFirstStep(form) ? 'first' : 'which') ?? ''), reading);
}

/**
 * Parses the limits in a form. A limit is `null` if all of its fields are empty.
 *
 * @throws {Problem} if a field is invalid
 */
function limitsIn(form: Form): Static<typeof LimitFields> {
  const what = 'The number of concurrent jobs';
  const concurrencyLimit = countField(form, 'concurrency', { what, min: 1, max: maxTokens });
  const starts = { what: 'The number of starts', min: 1, max: maxTokens };
  const jobs = countField(form, 'jobs', starts);
  const burst = countField(form, 'burst', { ...starts, what: 'The number in a burst' });
  const seconds = textField(form, 'seconds');
  if (jobs === null && burst === null && seconds === '') return { concurrencyLimit, rateLimit: null };
  if (jobs === null) throw invalidField(starts.what, 'set if starts are limited');
  const periodMs = Math.round((parseNumber(seconds) ?? NaN) * 1_000);
  if (!(periodMs >= 1 && periodMs <= 86_400_000))
    throw invalidField('The time', 'a number of seconds up to a day, 86400');
  return { concurrencyLimit, rateLimit: { jobs, periodMs, ...(burst === null ? {} : { burst }) } };
}

/** Returns the new limit of a key. The key is JSON text, because browsers change line breaks in the values of fields. */
function keyLimit({ form }: ActionRequest): { concurrencyKey: string; limit: number } {
  const { min, max } = bounds.concurrencyLimit;
  const what = 'The limit of the key';
  const limit = countField(form, 'limit', { what, min, max });
  if (limit === null)
    throw invalidField(what, `a whole number from ${min} to ${max.toLocaleString('en-US')}`);
  return { concurrencyKey: nameIn(form, 'key'), limit };
}

function searchName(form: Form): string {
  const name = textField(form, 'name');
  const { min, max } = savedSearchBounds.name;
  if (name.length >= min && name.length <= max) return name;
  throw invalidField('The name', `${min} to ${max} characters long`);
}

/**
 * Returns the filters of the submitted search as URL parameters.
 *
 * @throws {Problem} if a filter is invalid, or if the search has no filters or is too long
 */
function searchIn(form: Form, redact: RegExp): string {
  const filters = queryFilters(formFields(form.get('search') ?? ''), redact);
  const query = jobsPath(filters).slice('jobs?'.length);
  const { min, max } = savedSearchBounds.query;
  if (query.length >= min && query.length <= max) return query;
  throw invalidField('The search', `narrower than all jobs, and at most ${max} characters long`);
}
