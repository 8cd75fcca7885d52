import type { Batch, JobStorage } from '@longshore/jobs';
import { continuationConditions, endOf } from '@longshore/jobs/storage';
import { apiError, defineResource, type Resource } from '@longshore/resources';
import Type, { type Static } from 'typebox';
import { Id, nullable, Time, toTime } from './fields.js';
import type { JobEnqueuer } from './job-enqueuer.js';
import { NewJobItem } from './job-item.js';
import { seekPage } from './seek.js';

const Count = Type.Integer({ minimum: 0 });

const BatchItem = Type.Object({
  id: Id,
  name: nullable(Type.String()),
  total: Type.Integer({ minimum: 0, description: 'How many jobs it has' }),
  done: Count,
  failed: Count,
  cancelled: Count,
  progress: Type.Integer({ minimum: 0, maximum: 100, description: 'Percent of its jobs that have finished' }),
  followUpId: nullable(Type.String({ format: 'uuid', description: 'The job that waits for all of them' })),
  createdAt: Time,
  finishedAt: nullable(Time),
});

const NewBatchItem = Type.Object(
  {
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    jobs: Type.Array(NewJobItem, { maxItems: 10_000 }),
    followUp: Type.Optional(NewJobItem),
    followUpWhen: Type.Optional(Type.Enum([...continuationConditions])),
  },
  {
    additionalProperties: false,
    'x-unknown-fields': { id: 'the platform makes the id of a batch, and the answer names it' },
  },
);

/** `/batches`: jobs that are counted together. */
export function batchesResource(
  storage: Pick<JobStorage, 'batches'>,
  enqueuer: JobEnqueuer,
  jobs: Resource,
): Resource {
  return defineResource({
    name: 'batches',
    singular: 'batch',
    description: 'Jobs that are counted together, with one that may follow them.',
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
    search: [],
    defaultSort: ['-createdAt'],
    operations: { cancel: { summary: 'Cancel every job of it that has not finished' } },
    children: [{ resource: jobs, by: 'batchId', serves: ['list'] }],
    storage: {
      seeks: true,
      list: async (query) => {
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
        if (batch === null) throw new Error(`The batch ${id} was enqueued and cannot be found`);
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
            throw apiError(40902, 'A batch that has finished cannot be cancelled');
          return toBatchItem(result.batch);
        },
      },
    },
  });
}

function toBatchItem(batch: Batch): Static<typeof BatchItem> {
  return { ...batch, createdAt: batch.createdAt.toISOString(), finishedAt: toTime(batch.finishedAt) };
}
