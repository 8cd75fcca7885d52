import type { JobEvents, JobState, JobStorage } from '@longshore/jobs';
import { type ControlResult, type JobControlOptions, statesOfAction } from '@longshore/jobs/storage';
import { apiError, type CallContext, type Check, defineResource, type Resource } from '@longshore/resources';
import type { Static } from 'typebox';
import { attemptsResource } from './attempts-resource.js';
import { runBulkOperation } from './bulk-work.js';
import { continuationsResource } from './continuations-resource.js';
import { jobEventsResource } from './events-resource.js';
import { jobFilters, toJobFilter } from './job-filters.js';
import { transitionsResource } from './transitions-resource.js';
import { logsResource } from './logs-resource.js';
import { type ApiAction, auditedBulkDeletion, auditedIfReasoned, ReasonBody } from './reasons.js';
import type { JobEnqueuer } from './job-enqueuer.js';
import { type JobEditor, serverSet } from './job-editor.js';
import { JobItem, NewJobItem, RetryOptionsItem, toJobItem } from './job-item.js';
import { jobPage } from './job-lists.js';

interface JobsResourceParts {
  readonly storage: Pick<JobStorage, 'jobs' | 'control' | 'reports' | 'bulk'>;
  readonly enqueuer: JobEnqueuer;
  readonly editor: JobEditor;
  readonly events: JobEvents;
  /** Whether callers must give a reason when they delete jobs. */
  readonly requiresReason: boolean;
}

const editable =
  'Allowed while `state` is `scheduled`, `awaiting` or `enqueued`; in any other state, the answer is 409 (40902).';

/** States in which `retry` and `run` have no effect, because the job is already ready or running. */
const readyOrRunning: readonly JobState[] = ['enqueued', 'processing'];

/** `/jobs`: enqueue, list and control jobs. */
export function jobsResource({
  storage,
  enqueuer,
  editor,
  events,
  requiresReason,
}: JobsResourceParts): Resource {
  return defineResource({
    name: 'jobs',
    description: 'Units of work that servers run in the background.',
    item: JobItem,
    deletionReason: requiresReason ? 'required' : 'optional',
    serverSet,
    bulk: ['priority', 'queue', 'args'],
    create: NewJobItem,
    filters: jobFilters,
    sort: ['createdAt'],
    defaultSort: ['-createdAt'],
    search: ['name', 'queue', 'tags', 'error', 'args', 'recurringJobId', 'idempotencyKey'],
    searchBy: 'words',
    calls: {
      replaceMany: { note: editable },
      patch: { note: editable },
      delete: { note: 'Only a finished job can be deleted; for any other, the answer is 409 (40902).' },
      deleteMany: { note: 'Jobs that have not finished are kept.' },
    },
    operations: {
      cancel: {
        summary: 'Cancel a job',
        note: 'The signal of a running job is aborted within a second; the job is cancelled once its handler throws, and done if its handler returns anyway.',
        body: ReasonBody,
        states: { field: 'state', from: statesOfAction.cancel, to: ['cancelled'] },
      },
      retry: {
        summary: 'Retry a failed or cancelled job',
        note: 'Allows one more attempt if none is left. A job that was cancelled while it waited for other jobs waits for them again, in the state `awaiting`, unless `ignoreDependencies` is true.',
        body: RetryOptionsItem,
        states: { field: 'state', from: statesOfAction.retry, to: ['enqueued'], unchanged: readyOrRunning },
      },
      run: {
        summary: 'Run a scheduled or awaiting job now',
        note: 'An awaiting job no longer waits for other jobs.',
        body: ReasonBody,
        states: { field: 'state', from: statesOfAction.run, to: ['enqueued'], unchanged: readyOrRunning },
      },
    },
    notAllowed: {
      replace:
        'A job keeps its name, tags and dependencies; use PATCH to change its queue, priority, arguments or time.',
    },
    children: [
      { resource: attemptsResource(storage) },
      { resource: transitionsResource(storage) },
      { resource: logsResource(storage) },
      { resource: continuationsResource(storage) },
      { resource: jobEventsResource(events) },
    ],
    storage: {
      seeks: true,
      findsExisting: true,
      list: (query) => jobPage(storage, query),
      get: async (id) => {
        const job = await storage.jobs.find(id);
        return job === null ? undefined : toJobItem(job);
      },
      wait: async (id, timeoutMs, _context, signal) => {
        const job = await events.waitForEnd(id, timeoutMs, signal);
        return job === null ? undefined : toJobItem(job);
      },
      create: (body, context) => enqueuer.one(body, context),
      createMany: (bodies, context) => enqueuer.many(bodies, context),
      deleteMany: async (filters, context) => {
        const { principal, reason } = context;
        const selected = toJobFilter({ filters, search: undefined });
        if (selected === null) return 0;
        const filter = { state: statesOfAction.delete, ...selected };
        const requestedBy = principal?.name ?? null;
        const request = { action: 'delete', filter, requestedBy } as const;
        return (await runBulkOperation(storage.bulk, request, auditedBulkDeletion(context, reason))).changed;
      },
      patch: (id, change) => editor.one(id, change),
      replaceMany: (changes) => editor.all(changes),
      delete: async (id, check, context) =>
        itemAfter(
          await storage.control.delete(
            id,
            controlOptions(check, context, { action: 'jobs/delete', target: id, reason: context.reason }),
          ),
          'deleted',
        ) !== undefined,
      operations: {
        cancel: async (id, { reason }, context, check) => {
          const options = controlOptions(check, context, { action: 'jobs/cancel', target: id, reason });
          return itemAfter(await storage.control.cancel(id, options), 'cancelled');
        },
        retry: async (id, { reason, ...options }, context, check) => {
          const control = controlOptions(check, context, { action: 'jobs/retry', target: id, reason });
          return itemAfter(await storage.control.retry(id, { ...control, ...options }), 'retried');
        },
        run: async (id, { reason }, context, check) => {
          const options = controlOptions(check, context, { action: 'jobs/run', target: id, reason });
          return itemAfter(await storage.control.run(id, options), 'run now');
        },
      },
    },
  });
}

function controlOptions(
  check: Check<Static<typeof JobItem>> | undefined,
  context: CallContext,
  action?: ApiAction,
): JobControlOptions {
  return {
    check: check && ((job) => check(toJobItem(job))),
    transaction: context.transaction,
    audit:
      action && auditedIfReasoned(context, action, (result) => result.outcome === 'ok' && result.changed),
  };
}

/**
 * Returns the job after an action; `undefined` if there is no such job.
 * @param done the past participle of the action for the error message, such as `cancelled`
 * @throws {ApiError} 40902 if the job's state does not allow the action
 */
function itemAfter(result: ControlResult, done: string): Static<typeof JobItem> | undefined {
  if (result.outcome === 'unknown') return undefined;
  if (result.outcome === 'illegal')
    throw apiError(40902, `The job is ${result.job.state} and cannot be ${done}`);
  return toJobItem(result.job);
}
