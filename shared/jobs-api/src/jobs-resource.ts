import type { JobEvents, JobStorage } from '@longshore/jobs';
import { jobOperations, jobSetOperations, type OperableStorage } from '@longshore/jobs/operations';
import { statesOfAction } from '@longshore/jobs/storage';
import { defineResource, type Resource } from '@longshore/resources';
import { attemptsResource } from './attempts-resource.js';
import { endOf } from './bulk-work.js';
import { continuationsResource } from './continuations-resource.js';
import { jobEventsResource } from './events-resource.js';
import { jobFilters, toJobFilter } from './job-filters.js';
import { transitionsResource } from './transitions-resource.js';
import { logsResource } from './logs-resource.js';
import { checkOf, perform, served } from './operations.js';
import type { JobEnqueuer } from './job-enqueuer.js';
import { type JobEditor, serverSet } from './job-editor.js';
import { JobItem, NewJobItem, toJobItem } from './job-item.js';
import { jobPage } from './job-lists.js';

interface JobsResourceParts {
  readonly storage: OperableStorage & Pick<JobStorage, 'jobs' | 'reports'>;
  readonly enqueuer: JobEnqueuer;
  readonly editor: JobEditor;
  readonly events: JobEvents;
  /** Whether callers must give a reason when they delete jobs. */
  readonly requiresReason: boolean;
}

const editable =
  'Allowed while `state` is `scheduled`, `awaiting` or `enqueued`; in any other state, the answer is 409 (40902).';

/** `/jobs`: enqueue, list and control jobs. */
export function jobsResource({
  storage,
  enqueuer,
  editor,
  events,
  requiresReason,
}: JobsResourceParts): Resource {
  const operations = served([jobOperations.cancel, jobOperations.retry, jobOperations.run], {
    storage,
    requiresReason,
    toItem: toJobItem,
  });
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
    operations: operations.declarations,
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
        const filter = toJobFilter({ filters, search: undefined });
        if (filter === null) return 0;
        const target = { filter: { state: statesOfAction.delete, ...filter } };
        const { reason } = context;
        const call = { target, fields: {}, reason };
        const { subject } = await perform(jobSetOperations.delete, storage, context, call);
        return subject === null ? 0 : (await endOf(storage.bulk, subject)).changed;
      },
      patch: (id, change) => editor.one(id, change),
      replaceMany: (changes) => editor.all(changes),
      delete: async (target, check, context) => {
        const { reason } = context;
        const call = { target, fields: {}, reason, check: checkOf(check, toJobItem) };
        return (await perform(jobOperations.delete, storage, context, call)).subject !== null;
      },
      operations: operations.functions,
    },
  });
}
