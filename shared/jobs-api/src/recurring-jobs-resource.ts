import { isDeepStrictEqual } from 'node:util';
import {
  defineRecurringJob,
  type JobStorage,
  type NewRecurringJob,
  type RecurringJob,
  RecurringJobOwnedError,
} from '@longshore/jobs';
import type { ControlOptions } from '@longshore/jobs/storage';
import {
  apiError,
  applyAll,
  type Check,
  defineResource,
  type ItemChange,
  type KeyedChange,
  itemsOf,
  pageOf,
  type Resource,
  withJob,
} from '@longshore/resources';
import type { Static } from 'typebox';
import { jobsBelow } from './not-allowed.js';
import { asked, eachAsked, type EnqueueRequests } from './enqueue-requests.js';
import { occurrencesResource } from './occurrences-resource.js';
import {
  NewRecurringJobItem,
  RecurringJobItem,
  toRecurringJobItem,
  toRecurringJobOptions,
} from './recurring-job-item.js';

type Item = Static<typeof RecurringJobItem>;

const serverSet = [
  'application',
  'pausedAt',
  'nextDueAt',
  'lastDueAt',
  'lastJobId',
  'createdAt',
  'updatedAt',
] as const;

type Fields = Omit<Item, (typeof serverSet)[number]>;

/** `/recurring-jobs`: schedules that enqueue jobs. Schedules defined in an application's code can be paused but not changed. */
export function recurringJobsResource(
  { recurring, clock }: Pick<JobStorage, 'recurring' | 'clock'>,
  requests: EnqueueRequests,
  jobs: Resource,
): Resource {
  /**
   * Returns the recurring job with the fields of a body. Keeps what a body cannot contain: the tags, and the concurrency
   * key unless the job's name or arguments change.
   */
  const changed = (fields: Fields, current: RecurringJob | undefined): NewRecurringJob => {
    const options = toRecurringJobOptions(requests, fields);
    if (current === undefined) return defineRecurringJob(options);
    const { tags, concurrency } = current;
    const isSame = fields.name === current.name && isDeepStrictEqual(options.args, current.args);
    return defineRecurringJob({ ...options, tags, ...(isSame && { concurrency }) });
  };
  const update = async (id: string, change: ItemChange<Item, Fields>): Promise<Item | undefined> => {
    const [updated] = await owned(() =>
      asked(() =>
        recurring.updateAll([id], async (current) =>
          [...current.values()].map((job) => changed({ ...change.apply(toRecurringJobItem(job)), id }, job)),
        ),
      ),
    );
    return updated === undefined ? undefined : toRecurringJobItem(updated);
  };
  const updateAll = async (changes: readonly KeyedChange<Item, Fields>[]): Promise<Item[]> => {
    const ids = changes.map(({ id }) => id);
    const updated = await owned(() =>
      asked(() =>
        recurring.updateAll(ids, async (current) => {
          const items = new Map([...current].map(([id, job]) => [id, toRecurringJobItem(job)]));
          const fields = await applyAll({ singular: 'recurring-job' }, changes, items);
          return eachAsked(
            fields,
            (index) => `[${index}]`,
            (each) => changed(each, current.get(each.id)),
          );
        }),
      ),
    );
    return updated.map(toRecurringJobItem);
  };
  return defineResource({
    name: 'recurring-jobs',
    description: 'Schedules that enqueue a job at each due time.',
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
    operations: {
      trigger: { summary: 'Enqueue a job now, in addition to the schedule', enqueues: true },
      pause: { summary: 'Pause a recurring job' },
      resume: { summary: 'Resume a recurring job at its next due time' },
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
      list: async (query) => pageOf((await recurring.list()).map(toRecurringJobItem), query),
      get: async (id) => itemOf(await recurring.find(id)),
      create: async (body, { transaction }) => {
        const job = await asked(() => defineRecurringJob(toRecurringJobOptions(requests, body)));
        const added = await recurring.add(job, transaction);
        if (added === null) throw apiError(40901, `There is already a recurring job "${body.id}"`);
        return toRecurringJobItem(added);
      },
      replace: update,
      patch: update,
      replaceMany: updateAll,
      deleteMany: async (filters) => {
        const items = (await recurring.list()).map(toRecurringJobItem);
        return recurring.removeAll(itemsOf(items, filters).map(({ id }) => id));
      },
      delete: (id, check) => recurring.remove(id, checkOf(check)),
      operations: {
        trigger: async (id, _body, { transaction }, check) => {
          const job = await recurring.trigger(id, { ...checkOf(check), transaction });
          return job === null ? undefined : withJob(toRecurringJobItem(job.recurringJob), job.id);
        },
        pause: async (id, _body, { transaction }, check) =>
          itemOf(await recurring.pause(id, { ...checkOf(check), transaction })),
        resume: async (id, _body, { transaction }, check) =>
          itemOf(await recurring.resume(id, { ...checkOf(check), transaction })),
      },
    },
  });
}

function itemOf(job: RecurringJob | null): Item | undefined {
  return job === null ? undefined : toRecurringJobItem(job);
}

function checkOf(check: Check<Item> | undefined): ControlOptions<RecurringJob> {
  return { check: check && ((job) => check(toRecurringJobItem(job))) };
}

/** @throws {ApiError} 40902 if the recurring job is defined in an application's code */
async function owned<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof RecurringJobOwnedError ? apiError(40902, error.message) : error;
  }
}
