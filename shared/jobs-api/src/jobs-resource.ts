import type { JobEvents, JobStorage, JsonValue } from '@longshore/jobs';
import {
  jobOperations,
  type JobSelection,
  jobSetOperations,
  jobStepOperations,
  type OperableStorage,
  type Operation,
} from '@longshore/jobs/operations';
import { type BulkOperation, type JobFilter, statesOfAction } from '@longshore/jobs/storage';
import {
  afterCommit,
  apiError,
  defineResource,
  type Resource,
  type SetOperationFunction,
} from '@longshore/resources';
import type { TObject } from 'typebox';
import { endOf, startAfterCommit, toBulkOperationItem } from './bulk-operations-resource.js';
import { jobEventsResource } from './events-resource.js';
import {
  attemptsResource,
  continuationsResource,
  logsResource,
  transitionsResource,
} from './job-children.js';
import { type JobEditor, serverSet } from './job-editor.js';
import type { JobEnqueuer } from './job-enqueuer.js';
import { jobFilters, toJobFilter } from './job-filters.js';
import { JobItem, NewJobItem, toJobItem } from './job-item.js';
import { jobPage, sortedFields } from './job-lists.js';
import { signalDeclaration, signalFunction, stepsResource } from './job-steps.js';
import { attempt, checkOf, perform, served, setDeclarationOf } from './operations.js';

interface JobsResourceParts {
  readonly storage: OperableStorage & Pick<JobStorage, 'jobs' | 'reports' | 'steps'>;
  readonly enqueuer: JobEnqueuer;
  readonly editor: JobEditor;
  readonly events: JobEvents;
  /** Whether callers must give a reason when they delete jobs. */
  readonly requiresReason: boolean;
  /** The resource that shows the progress of operations on many jobs. */
  readonly bulkOperations: Resource;
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
  bulkOperations,
}: JobsResourceParts): Resource {
  const operations = served(
    [
      jobOperations.cancel,
      jobOperations.retry,
      jobOperations.run,
      jobOperations.reschedule,
      jobOperations.rename,
      jobStepOperations.signal,
      jobStepOperations.rerunFrom,
    ],
    {
      storage,
      requiresReason,
      toItem: toJobItem,
    },
  );
  return defineResource({
    name: 'jobs',
    description: 'Units of work that servers run in the background.',
    item: JobItem,
    deletionReason: requiresReason ? 'required' : 'optional',
    serverSet,
    bulk: ['priority', 'queue', 'args', 'tags', 'maxAttempts'],
    create: NewJobItem,
    filters: jobFilters,
    sort: sortedFields,
    defaultSort: ['-createdAt'],
    search: ['name', 'queue', 'tags', 'error', 'args', 'recurringJobId', 'idempotencyKey'],
    calls: {
      replaceMany: { note: editable },
      patch: { note: editable },
      delete: { note: 'Only a finished job can be deleted; for any other, the answer is 409 (40902).' },
      deleteMany: {
        note: 'If some of these have not finished, none is deleted: the answer is 409 (40902) and says how many. Filter by `state` to leave them out.',
      },
    },
    operations: operations.declarations,
    setOperations: {
      ...Object.fromEntries(
        Object.values(jobSetOperations).map((operation) => [
          operation.name,
          setDeclarationOf(operation, () => bulkOperations, requiresReason),
        ]),
      ),
      signal: signalDeclaration,
    },
    notAllowed: {
      replace:
        'A job keeps its name and dependencies; use PATCH to change its queue, priority, arguments, time, tags or maximum of attempts.',
    },
    children: [
      { resource: attemptsResource(storage) },
      { resource: stepsResource(storage) },
      { resource: transitionsResource(storage) },
      { resource: logsResource(storage) },
      { resource: continuationsResource(storage) },
      { resource: jobEventsResource(events) },
    ],
    storage: {
      seeks: true,
      findsExisting: true,
      deletesAfterCommit: true,
      list: (query, _context, signal) => jobPage(storage, query, signal),
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
      problems: (bodies, context) => enqueuer.problems(bodies, context),
      deleteMany: async (filters, context) => {
        const filter = toJobFilter({ filters, search: undefined });
        if (filter === null) return 0;
        await requireFinished(storage, filter);
        const { reason, transaction } = context;
        const call = { target: { filter: { state: statesOfAction.delete, ...filter } }, fields: {}, reason };
        const { subject } = await attempt(jobSetOperations.delete, storage, context, call);
        if (subject === null) return 0;
        if (transaction === undefined) return (await endOf(storage.bulk, subject)).changed;
        startAfterCommit(storage.bulk, subject, transaction);
        return afterCommit;
      },
      patch: (id, change, context) => editor.one(id, change, context),
      replaceMany: (changes, context) => editor.many(changes, context),
      delete: async (target, check, context) => {
        const { reason } = context;
        const call = { target, fields: {}, reason, check: checkOf(check, toJobItem) };
        return (await perform(jobOperations.delete, storage, context, call)).subject !== null;
      },
      operations: {
        ...operations.functions,
        retry: async (id, body, context, check) => {
          await editor.admitRetry(await storage.jobs.find(id), body as object, context);
          return operations.functions['retry']?.(id, body, context, check);
        },
      },
      setOperations: {
        ...Object.fromEntries(
          Object.values(jobSetOperations).map((operation) => [
            operation.name,
            setFunctionOf(operation, storage),
          ]),
        ),
        signal: signalFunction(storage),
      },
    },
  });
}

/** @throws {ApiError} 40902 if unfinished jobs match the filter, because these cannot be deleted */
async function requireFinished({ jobs }: Pick<JobStorage, 'jobs'>, filter: JobFilter): Promise<void> {
  const state = statesOfAction.cancel.filter((state) => filter.state?.includes(state) ?? true);
  if (state.length === 0) return;
  const { count, exact } = await jobs.count({ ...filter, state });
  if (count === 0) return;
  const unfinished = `${exact ? '' : 'at least '}${count} ${count === 1 ? 'job that matches has' : 'jobs that match have'} not finished`;
  throw apiError(
    40902,
    `No job was deleted, because ${unfinished}: cancel first, or select finished jobs only with state=${statesOfAction.delete.join('&state=')}`,
  );
}

/** An operation that changes at most this many jobs is answered at its end, unless the client prefers otherwise. */
const maxAwaited = 1_000;

function setFunctionOf(
  operation: Operation<TObject, BulkOperation, JobSelection>,
  storage: OperableStorage,
): SetOperationFunction {
  return async ({ ids, filters }, body, context, respondsAsync) => {
    const { reason, ...fields } = body as { readonly reason?: string; readonly delayMs?: number };
    const matching = toJobFilter({ filters, search: undefined });
    if (matching === null) throw apiError(40902, 'No job can match these filters together');
    const filter = { ...matching, ...(ids && { id: ids }) };
    const selected = ids === undefined ? { filter: toJson(filter) } : { ids: [...ids] };
    const call = { target: { filter }, fields, reason, selected };
    const { subject } = await perform(operation, storage, context, call);
    if (subject === null) throw new Error('The bulk operation was not stored');
    const { transaction } = context;
    if (transaction !== undefined) startAfterCommit(storage.bulk, subject, transaction);
    const isSmall = subject.matched?.exact === true && subject.matched.count <= maxAwaited;
    const isAwaited = isSmall && !respondsAsync && transaction === undefined && fields.delayMs === undefined;
    const item = toBulkOperationItem(isAwaited ? await endOf(storage.bulk, subject) : subject);
    return { item, isDone: isAwaited };
  };
}

function toJson(filter: JobFilter): JsonValue {
  return JSON.parse(JSON.stringify(filter)) as JsonValue;
}
