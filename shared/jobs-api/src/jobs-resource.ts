import type { JobEvents, JobStorage } from '@longshore/jobs';
import { type ControlOptions, type ControlResult, statesOfAction } from '@longshore/jobs/storage';
import { apiError, type CallContext, type Check, defineResource, type Resource } from '@longshore/resources';
import type { Static } from 'typebox';
import { attemptsResource } from './attempts-resource.js';
import { carryOut } from './bulk-work.js';
import { continuationsResource } from './continuations-resource.js';
import { jobEventsResource } from './events-resource.js';
import { jobFilters, toJobFilter } from './job-filters.js';
import { transitionsResource } from './transitions-resource.js';
import { logsResource } from './logs-resource.js';
import type { JobEnqueuer } from './job-enqueuer.js';
import { type JobEditor, serverSet } from './job-editor.js';
import { JobItem, NewJobItem, toJobItem } from './job-item.js';
import { jobPage } from './job-lists.js';

interface JobsResourceParts {
  readonly storage: Pick<JobStorage, 'jobs' | 'control' | 'reports' | 'bulk'>;
  readonly enqueuer: JobEnqueuer;
  readonly editor: JobEditor;
  readonly events: JobEvents;
}

/** `/jobs`: enqueue, list and control jobs. */
export function jobsResource({ storage, enqueuer, editor, events }: JobsResourceParts): Resource {
  return defineResource({
    name: 'jobs',
    description: 'Units of work that servers run in the background.',
    item: JobItem,
    serverSet,
    bulk: ['priority', 'queue', 'args'],
    create: NewJobItem,
    filters: jobFilters,
    sort: ['createdAt'],
    defaultSort: ['-createdAt'],
    search: ['name', 'queue', 'tags', 'error', 'args', 'recurringJobId', 'idempotencyKey'],
    searchBy: 'words',
    calls: {
      delete: { note: 'Only a finished job can be deleted.' },
      deleteMany: { note: 'Jobs that have not finished stay.' },
    },
    operations: {
      cancel: { summary: 'Cancel a job' },
      retry: { summary: 'Retry a failed or cancelled job' },
      run: { summary: 'Run a scheduled job now' },
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
      deleteMany: async (filters, { principal }) => {
        const selected = toJobFilter({ filters, search: undefined });
        if (selected === null) return 0;
        const filter = { state: statesOfAction.delete, ...selected };
        const requestedBy = principal?.name ?? null;
        return (await carryOut(storage.bulk, { action: 'delete', filter, requestedBy })).changed;
      },
      patch: (id, change) => editor.one(id, change),
      replaceMany: (changes) => editor.all(changes),
      delete: async (id, check, context) =>
        itemAfter(await storage.control.delete(id, controlOptions(check, context)), 'deleted') !== undefined,
      operations: {
        cancel: async (id, _body, context, check) =>
          itemAfter(await storage.control.cancel(id, controlOptions(check, context)), 'cancelled'),
        retry: async (id, _body, context, check) =>
          itemAfter(await storage.control.retry(id, controlOptions(check, context)), 'retried'),
        run: async (id, _body, context, check) =>
          itemAfter(await storage.control.run(id, controlOptions(check, context)), 'run now'),
      },
    },
  });
}

function controlOptions(
  check: Check<Static<typeof JobItem>> | undefined,
  { transaction }: CallContext,
): ControlOptions {
  return { check: check && ((job) => check(toJobItem(job))), transaction };
}

/** @throws {ApiError} 40902 if the job's state does not allow it */
function itemAfter(result: ControlResult, done: string): Static<typeof JobItem> | undefined {
  if (result.outcome === 'unknown') return undefined;
  if (result.outcome === 'illegal')
    throw apiError(40902, `The job is ${result.job.state} and cannot be ${done}`);
  return toJobItem(result.job);
}
