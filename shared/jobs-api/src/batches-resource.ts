import type { Batch, JobStorage } from '@longshore/jobs';
import { bounds, continuationConditions, endOf } from '@longshore/jobs/storage';
import {
  apiError,
  type CollectionQuery,
  defineResource,
  type Page,
  pageOf,
  type Resource,
} from '@longshore/resources';
import Type, { type Static } from 'typebox';
import { createdAtOf, Id, maxJobs, nullable, text, Time, toTime } from './fields.js';
import type { JobEnqueuer } from './job-enqueuer.js';
import { NewJobItem } from './job-item.js';
import { jobsBelow } from './not-allowed.js';
import { seekPage } from './seek.js';

const Count = Type.Integer({ minimum: 0 });

const BatchItem = Type.Object({
  id: Id,
  name: nullable(Type.String()),
  total: Type.Integer({ minimum: 0, description: 'The number of its jobs' }),
  done: Count,
  failed: Count,
  cancelled: Count,
  progress: Type.Integer({
    minimum: 0,
    maximum: 100,
    description: 'The percentage of its jobs that have finished',
  }),
  followUpId: nullable(
    Type.String({
      format: 'uuid',
      description: 'The batch callback: the job that runs when all others have finished',
    }),
  ),
  createdAt: Time,
  finishedAt: nullable(Time),
});

const NewBatchItem = Type.Object(
  {
    name: Type.Optional(text(bounds.keyLength)),
    jobs: Type.Array(NewJobItem, {
      maxItems: maxJobs,
      description: 'All jobs of the batch; none can be added later',
    }),
    followUp: Type.Optional(NewJobItem),
    followUpWhen: Type.Optional(
      Type.Enum([...continuationConditions], {
        description: 'The end of the batch after which the callback runs',
      }),
    ),
  },
  {
    additionalProperties: false,
    'x-unknown-fields': { id: 'the platform creates the ids of batches; the answer contains it' },
  },
);

type Item = Static<typeof BatchItem>;

/** How many batches a search looks at, starting with the newest. */
const maxSearched = 10_000;

/** `/batches`: jobs that are enqueued and counted together. */
export function batchesResource(
  storage: Pick<JobStorage, 'batches'>,
  enqueuer: JobEnqueuer,
  jobs: Resource,
): Resource {
  return defineResource({
    name: 'batches',
    singular: 'batch',
    description:
      'Jobs that are enqueued and counted together, optionally with a callback that runs when all have finished.',
    item: BatchItem,
    serverSet: [
      'id',
      'total',
      'done',
      'failed',
      'cancelled',
      'progress',
      'followUpId',
      'createdAt',
      'finishedAt',
    ],
    create: NewBatchItem,
    sort: ['createdAt'],
    defaultSort: ['-createdAt'],
    operations: { cancel: { summary: 'Cancel the unfinished jobs of a batch' } },
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
        if (query.search !== undefined) return found(storage, query);
        const [page, counted] = await Promise.all([
          seekPage(query, async (page) => ({ rows: await storage.batches.list(page) })),
          query.count === 'none' ? undefined : storage.batches.count(),
        ]);
        const items = page.items.map(toBatchItem);
        return { ...page, items, total: counted?.count, estimated: counted?.exact === false };
      },
      get: async (id) => {
        const batch = await storage.batches.find(id);
        return batch === null ? undefined : toBatchItem(batch);
      },
      create: async (body, context) => {
        const { id } = await enqueuer.batch(body, context);
        const batch = await storage.batches.find(id, context.transaction);
        if (batch === null) throw new Error(`The batch ${id} was enqueued but cannot be found`);
        return toBatchItem(batch);
      },
      operations: {
        cancel: async (id, _body, { transaction }, check) => {
          const result = await storage.batches.cancel(id, {
            check: check && ((batch) => check(toBatchItem(batch))),
            transaction,
          });
          if (result.outcome === 'unknown') return undefined;
          if (result.outcome === 'illegal' && endOf(result.batch) !== 'cancelled')
            throw apiError(40902, 'The batch has finished and cannot be cancelled');
          return toBatchItem(result.batch);
        },
      },
    },
  });
}

/** Searches only the newest batches, because batch names have no index. */
async function found(storage: Pick<JobStorage, 'batches'>, query: CollectionQuery): Promise<Page<Item>> {
  const newest = await storage.batches.list({ limit: maxSearched + 1 });
  const page = pageOf(newest.slice(0, maxSearched).map(toBatchItem), query);
  return newest.length > maxSearched ? { ...page, estimated: true, partial: true } : page;
}

function toBatchItem(batch: Batch): Item {
  return { ...batch, createdAt: createdAtOf(batch), finishedAt: toTime(batch.finishedAt) };
}
