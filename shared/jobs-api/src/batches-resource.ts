import type { Batch } from '@longshore/jobs';
import { batchOperations, type OperableStorage } from '@longshore/jobs/operations';
import {
  type BatchFilter,
  type BatchState,
  batchStates,
  bounds,
  continuationConditions,
} from '@longshore/jobs/storage';
import {
  type CollectionQuery,
  defineResource,
  type Resource,
  type UncheckedBody,
} from '@longshore/resources';
import Type, { type Static, type TInteger } from 'typebox';
import { createdAtOf, Id, maxJobs, nullable, text, Time, toTime } from './fields.js';
import type { JobEnqueuer } from './job-enqueuer.js';
import { boundOf } from './job-filters.js';
import { NewCallbackItem, NewJobItem } from './job-item.js';
import { jobsBelow } from './job-lists.js';
import { served } from './operations.js';
import { comparedPage, seekPage } from './seek.js';

const count = (description: string): TInteger => Type.Integer({ minimum: 0, description });

const BatchItem = Type.Object({
  id: Id,
  name: nullable(text(bounds.keyLength, 'A display name')),
  state: Type.Enum([...batchStates], {
    description:
      '`processing` until all jobs have finished; then `failed` if one has failed, `cancelled` if one was cancelled, or `done`',
  }),
  total: Type.Integer({ minimum: 0, description: 'The number of its jobs' }),
  done: count('How many of its jobs are done'),
  failed: count('How many of its jobs have failed'),
  cancelled: count('How many of its jobs were cancelled'),
  percent: Type.Integer({
    minimum: 0,
    maximum: 100,
    description: 'The percentage of its jobs that have finished',
  }),
  callbackId: nullable(
    Type.String({
      format: 'uuid',
      description: 'The batch callback: the job that runs when all others have finished',
    }),
  ),
  callbackWhen: nullable(
    Type.Enum([...continuationConditions], {
      description: 'How the batch must finish for the callback to run; null if it has none',
    }),
  ),
  createdAt: Time,
  finishedAt: nullable(Time),
});

const NewBatchItem = Type.Object(
  {
    name: Type.Optional(text(bounds.keyLength, 'A display name')),
    jobs: Type.Array(NewJobItem, {
      maxItems: maxJobs,
      description: 'All jobs of the batch; none can be added later',
    }),
    callback: Type.Optional(NewCallbackItem),
    callbackWhen: Type.Optional(
      Type.Enum([...continuationConditions], {
        description:
          'How the batch must finish for the callback to run: all jobs done (`onDone`, the default), at least one failed (`onFailed`), or in any way (`onAny`). If it finishes otherwise, the callback is cancelled',
      }),
    ),
  },
  {
    additionalProperties: false,
    'x-unknown-fields': { id: 'the platform creates the ids of batches; the response contains the id' },
  },
);

type Item = Static<typeof BatchItem>;

/** `/batches`: jobs that are enqueued and counted together. */
export function batchesResource(
  storage: OperableStorage,
  enqueuer: JobEnqueuer,
  jobs: Resource,
  requiresReason: boolean,
): Resource {
  const serving = { storage, requiresReason, toItem: toBatchItem };
  const { declarations, functions } = served([batchOperations.cancel], serving);
  return defineResource({
    name: 'batches',
    singular: 'batch',
    description:
      'Jobs that are enqueued and counted together, optionally with a callback that runs when all have finished.',
    item: BatchItem,
    serverSet: [
      'id',
      'state',
      'total',
      'done',
      'failed',
      'cancelled',
      'percent',
      'callbackId',
      'callbackWhen',
      'createdAt',
      'finishedAt',
    ],
    create: NewBatchItem,
    filters: {
      state: { field: 'state', match: 'exact', description: 'Batches in one of these states.' },
      name: { field: 'name', match: 'exact', description: 'Batches with one of these names.' },
      createdAfter: {
        field: 'createdAt',
        match: 'from',
        description: 'Batches created at this time or later.',
      },
      createdBefore: {
        field: 'createdAt',
        match: 'to',
        description: 'Batches created at this time or earlier.',
      },
      finishedAfter: {
        field: 'finishedAt',
        match: 'from',
        description: 'Batches that finished at this time or later.',
      },
      finishedBefore: {
        field: 'finishedAt',
        match: 'to',
        description: 'Batches that finished at this time or earlier.',
      },
    },
    defaultSort: ['-createdAt'],
    operations: declarations,
    children: [
      {
        resource: jobs,
        by: 'batchId',
        serves: ['list'],
        notAllowed: {
          ...jobsBelow,
          create: 'A batch has all its jobs from the start; create another batch.',
        },
      },
    ],
    notAllowed: {
      replaceMany: 'A batch only changes as its jobs finish.',
      deleteMany: 'Batches are deleted 30 days after they finish.',
      replace: 'A batch only changes as its jobs finish.',
      patch: 'A batch only changes as its jobs finish.',
      delete: 'Batches are deleted 30 days after they finish; use PUT /batches/{id}/cancel to stop one.',
    },
    storage: {
      seeks: true,
      list: async (query) => {
        const filter = toBatchFilter(query);
        // There is an index only for the order of creation, so a search or another order compares the newest batches.
        const [first] = query.sort;
        if (query.search !== undefined || (first?.field !== 'createdAt' && first?.field !== 'id'))
          return comparedPage(
            { ...query, filters: [] },
            (page) => storage.batches.list({ filter, ...page }),
            toBatchItem,
          );
        const [page, counted] = await Promise.all([
          seekPage(query, async (page) => ({ rows: await storage.batches.list({ filter, ...page }) })),
          query.count === 'none' ? undefined : storage.batches.count(filter),
        ]);
        const items = page.items.map(toBatchItem);
        return { ...page, items, total: counted?.count, estimated: counted?.exact === false };
      },
      get: async (id) => {
        const batch = await storage.batches.find(id);
        return batch === null ? undefined : toBatchItem(batch);
      },
      problems: (bodies, context) => enqueuer.problems(bodies.flatMap(jobsIn), context),
      create: async (body, context) => {
        const { id } = await enqueuer.batch(body, context);
        const batch = await storage.batches.find(id, context.transaction);
        if (batch === null) throw new Error(`The batch ${id} was enqueued but cannot be found`);
        return toBatchItem(batch);
      },
      operations: functions,
    },
  });
}

/** Returns the jobs in a batch whose body may break the schema. */
function jobsIn({ body }: UncheckedBody): UncheckedBody[] {
  const { jobs, callback } = (body ?? {}) as { readonly jobs?: unknown; readonly callback?: unknown };
  const checkedJobs = Array.isArray(jobs)
    ? jobs.map((job: unknown, index) => ({ body: job, at: `jobs[${index}]` }))
    : [];
  return [...checkedJobs, { body: callback, at: 'callback' }];
}

function toBatchFilter({ filters }: Pick<CollectionQuery, 'filters'>): BatchFilter {
  const result: { -readonly [Member in keyof BatchFilter]: BatchFilter[Member] } = {};
  for (const { parameter, match, values } of filters) {
    const texts = values.map(String);
    if (parameter === 'state')
      result.state = texts as BatchState[]; // checked against the schema of the field
    else if (parameter === 'name') result.name = texts;
    else result[parameter as (typeof batchTimes)[number]] = boundOf(texts[0] ?? '', match);
  }
  return result;
}

const batchTimes = ['createdAfter', 'createdBefore', 'finishedAfter', 'finishedBefore'] as const;

function toBatchItem(batch: Batch): Item {
  return {
    ...batch,
    createdAt: createdAtOf(batch),
    finishedAt: toTime(batch.finishedAt),
  };
}
