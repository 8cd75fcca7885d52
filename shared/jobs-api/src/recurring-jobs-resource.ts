import { type RecurringJob, RecurringJobOwnedError } from '@longshore/jobs';
import {
  auditEntryOf,
  type Call,
  type EditedSchedule,
  type OperableStorage,
  type RecurringJobEdits,
  recurringJobOperations,
  scheduleOf,
} from '@longshore/jobs/operations';
import type { DecideRecurringJobs, RecurringFilter } from '@longshore/jobs/storage';
import {
  apiError,
  applyAll,
  type CallContext,
  defineResource,
  type Filter,
  type ItemChange,
  type KeyedChange,
  type Resource,
  withJob,
} from '@longshore/resources';
import type { Static } from 'typebox';
import { type EnqueueRequests, mapCollectingProblems, withApiErrors } from './enqueue-requests.js';
import { pauseFieldNames } from './fields.js';
import { jobsBelow } from './job-lists.js';
import { occurrencesResource } from './occurrences-resource.js';
import { actorOf, attempt, checkOf, declarationOf, functionOf, perform, served } from './operations.js';
import type { Backlog, CallerQuotas, Creator } from './quotas.js';
import { RecurringJobBodies } from './recurring-job-bodies.js';
import { NewRecurringJobItem, RecurringJobItem, toRecurringJobItem } from './recurring-job-item.js';
import { comparedPage, maxCompared, seekPage } from './seek.js';

type Item = Static<typeof RecurringJobItem>;

const serverSet = [
  'version',
  'application',
  ...pauseFieldNames,
  'nextDueAt',
  'lastDueAt',
  'lastJobId',
  'createdAt',
  'updatedAt',
] as const;

type Fields = Omit<Item, (typeof serverSet)[number]>;

const inCode =
  'A recurring job that is defined in the code of an application can be paused but not changed: the answer is 409 (40902).';

export interface RecurringJobsParts {
  readonly storage: OperableStorage;
  readonly requests: EnqueueRequests;
  readonly jobs: Resource;
  readonly backlog: Backlog;
  readonly quotas: CallerQuotas;
}

/**
 * `/recurring-jobs`: schedules that enqueue jobs. Schedules defined in an application's code can be paused but not
 * changed.
 */
export function recurringJobsResource(
  { storage, requests, jobs, backlog, quotas }: RecurringJobsParts,
  requiresReason: boolean,
): Resource {
  const { recurring, clock } = storage;
  const bodies = new RecurringJobBodies(requests, quotas, backlog.limits.ready);
  const admitQueues = async (
    changes: readonly ItemChange<Item, Fields>[],
    creator: Creator,
  ): Promise<void> => {
    const queues = new Set(changes.flatMap(({ fields }) => fields.queue ?? []));
    await withApiErrors(() => quotas.admitQueues(queues, creator));
  };
  const edit = async (
    call: Pick<Call<RecurringJobEdits, EditedSchedule, RecurringJob>, 'target' | 'fields' | 'selected'>,
    context: CallContext,
  ): Promise<readonly RecurringJob[]> => {
    const { subject } = await owned(() =>
      withApiErrors(() => perform(recurringJobOperations.edit, storage, context, call)),
    );
    return subject ?? [];
  };
  const update = async (
    id: string,
    change: ItemChange<Item, Fields>,
    context: CallContext,
  ): Promise<Item | undefined> => {
    await admitQueues([change], context);
    const decide: DecideRecurringJobs = (current) =>
      Promise.all(
        [...current.values()].map((job) => {
          const fields = withoutOther(change.fields, change.apply(toRecurringJobItem(job)));
          return bodies.changed({ ...fields, id }, job);
        }),
      );
    const call = { target: { ids: [id], decide }, fields: recordedOf(change.fields) };
    const [updated] = await edit(call, context);
    return updated === undefined ? undefined : toRecurringJobItem(updated);
  };
  const updateAll = async (
    changes: readonly KeyedChange<Item, Fields>[],
    context: CallContext,
  ): Promise<Item[]> => {
    await admitQueues(
      changes.map(({ change }) => change),
      context,
    );
    const ids = changes.map(({ id }) => id);
    const decide: DecideRecurringJobs = async (current) => {
      const items = new Map([...current].map(([id, job]) => [id, toRecurringJobItem(job)]));
      const fields = await applyAll({ singular: 'recurring-job' }, changes, items);
      return mapCollectingProblems(
        fields,
        (index) => `[${index}]`,
        (item) => bodies.changed(item, current.get(item.id)),
      );
    };
    const updated = await edit({ target: { ids, decide }, fields: {}, selected: { ids } }, context);
    return updated.map(toRecurringJobItem);
  };
  const serving = { storage, requiresReason, toItem: toRecurringJobItem };
  const { pause, resume } = recurringJobOperations;
  const { declarations, functions } = served([pause, resume], serving);
  const trigger = functionOf(recurringJobOperations.trigger, {
    ...serving,
    answer: ({ recurringJob, id }) => withJob(toRecurringJobItem(recurringJob), id),
  });
  return defineResource({
    name: 'recurring-jobs',
    description: 'Schedules that enqueue a job at each due time.',
    deletionReason: requiresReason ? 'required' : 'optional',
    item: RecurringJobItem,
    serverSet,
    create: NewRecurringJobItem,
    filters: {
      name: {
        field: 'name',
        match: 'exact',
        description: 'Recurring jobs that enqueue jobs with these names.',
      },
      queue: {
        field: 'queue',
        match: 'exact',
        description: 'Recurring jobs that enqueue into these queues.',
      },
      application: {
        field: 'application',
        match: 'exact',
        description: 'Recurring jobs of these applications.',
      },
    },
    calls: {
      create: { note: 'If there is already one with this `id`, the answer is 409 (40901).' },
      replaceMany: { note: inCode },
      replace: { note: inCode },
      patch: { note: inCode },
      delete: { note: recurringJobOperations.delete.note },
      deleteMany: { note: 'The jobs that they have enqueued are kept.' },
    },
    operations: {
      ...declarations,
      trigger: { ...declarationOf(recurringJobOperations.trigger, requiresReason), enqueues: true },
    },
    children: [
      {
        resource: jobs,
        by: 'recurringJobId',
        serves: ['list'],
        notAllowed: { ...jobsBelow, create: 'Use PUT /recurring-jobs/{id}/trigger to enqueue a job now.' },
      },
      { resource: occurrencesResource(recurring, clock) },
    ],
    storage: {
      seeks: true,
      list: async (query) => {
        const filter = filterOf(query.filters);
        if (query.search !== undefined || query.sort[0]?.field !== 'id')
          return comparedPage(query, (page) => recurring.list({ ...filter, ...page }), toRecurringJobItem);
        const [page, total] = await Promise.all([
          seekPage(query, async ({ order, ...position }) => ({
            rows: await recurring.list({
              ...filter,
              ...position,
              order: order === 'oldest' ? 'ascending' : 'descending',
            }),
          })),
          query.count === 'none' ? undefined : recurring.count(filter),
        ]);
        return { ...page, items: page.items.map(toRecurringJobItem), total };
      },
      get: async (id) => itemOf(await recurring.find(id)),
      problems: (bodies) => requests.problems(bodies),
      create: async (body, context) => {
        const { caller } = context;
        requireOwnId(body.id, context.rowScope);
        const job = await withApiErrors(() => bodies.created(body));
        if ((await recurring.find(job.id)) === null)
          await withApiErrors(async () => {
            await quotas.admitQueues([job.queue], { caller });
            await quotas.admitRecurringJob(job.id, { caller });
          });
        const call = { target: job, fields: scheduleOf(job) };
        const { facts, subject: added } = await attempt(
          recurringJobOperations.create,
          storage,
          context,
          call,
        );
        if (facts.outcome === 'illegal' || added === null)
          throw apiError(40901, `There is already a recurring job "${body.id}"`);
        return toRecurringJobItem(added);
      },
      replace: update,
      patch: update,
      replaceMany: updateAll,
      deleteMany: async (filters, context) => {
        const listed = await recurring.list({ ...filterOf(filters), limit: maxCompared + 1 });
        const ids = listed.map(({ id }) => id);
        if (ids.length > maxCompared)
          throw apiError(
            41301,
            `More than ${maxCompared} recurring jobs match: delete them in parts, with filters by name, queue or application`,
          );
        const call = { fields: {}, by: actorOf(context), reason: context.reason };
        return recurring.removeAll(ids, {
          transaction: context.transaction,
          audit: (target) =>
            auditEntryOf(recurringJobOperations.delete, { ...call, target }, { outcome: 'done' }),
        });
      },
      delete: async (target, check, context) => {
        const { reason } = context;
        const call = { target, fields: {}, reason, check: checkOf(check, toRecurringJobItem) };
        const { facts } = await perform(recurringJobOperations.delete, storage, context, call);
        return facts.outcome === 'done';
      },
      operations: {
        ...functions,
        trigger: async (id, body, check, context) => {
          const job = await recurring.find(id);
          if (job !== null) await backlog.admitReady(job.queue);
          return trigger(id, body, check, context);
        },
      },
    },
  });
}

/** A recurring job has `cron` or `every`: a change that sets one of them replaces the other, and what belongs to it. */
function withoutOther(given: Partial<Fields>, fields: Fields): Fields {
  const { cron = null, timeZone = 'UTC', every = null, anchor = null } = given;
  if (every !== null && cron === null) return { ...fields, cron, timeZone };
  if (cron !== null && every === null) return { ...fields, every, anchor };
  return fields;
}

/** Returns the values of a change for the audit log, which does not keep arguments. */
function recordedOf({ args: _args, ...values }: Partial<Fields>): EditedSchedule {
  return values;
}

/**
 * Checks that a caller that is limited to certain queues takes an id of its own, and not one that others may want.
 *
 * @throws {ApiError} 42202 if the id does not end with one of the queues
 */
function requireOwnId(id: string, queues: readonly string[] | null): void {
  const [name = '', owner] = id.split('@');
  if (queues === null || (owner !== undefined && queues.includes(owner))) return;
  const example = `${name}@${queues[0] ?? ''}`;
  throw apiError(
    42202,
    `id must end with "@" and a queue of these credentials (${queues.join(', ')}), such as "${example}", so that it takes no id from others`,
  );
}

/** Returns the filters of a request, which are those that the resource declares. */
function filterOf(filters: readonly Filter[]): RecurringFilter {
  const valuesOf = (parameter: string): string[] | undefined =>
    filters.find((filter) => filter.parameter === parameter)?.values.map(String);
  const [names, queues, applications] = [valuesOf('name'), valuesOf('queue'), valuesOf('application')];
  return { ...(names && { names }), ...(queues && { queues }), ...(applications && { applications }) };
}

function itemOf(job: RecurringJob | null): Item | undefined {
  return job === null ? undefined : toRecurringJobItem(job);
}

/**
 * Runs `work` and converts a {@link RecurringJobOwnedError} to an API error.
 * @throws {ApiError} 40902 if a recurring job is defined in an application's code
 */
async function owned<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof RecurringJobOwnedError ? apiError(40902, error.message) : error;
  }
}
