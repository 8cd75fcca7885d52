import type { JobState, JobStorage } from '@longshore/jobs';
import { jobStates, type Queue, type QueueSettings } from '@longshore/jobs/storage';
import {
  apiError,
  type CallContext,
  type Check,
  defineResource,
  type ItemChange,
  pageOf,
  type Resource,
  type Transaction,
} from '@longshore/resources';
import Type, { type Static, type TInteger } from 'typebox';
import { carryOut, carryOutLater } from './bulk-work.js';
import { Name, nullable, Time, toTime } from './fields.js';

const Counts = Type.Object(
  Object.fromEntries(jobStates.map((state) => [state, Type.Integer({ minimum: 0 })])) as Record<
    JobState,
    TInteger
  >,
);

const Most = { minimum: 1, maximum: 1_000_000 };

const RateLimitItem = Type.Object(
  {
    jobs: Type.Integer({ ...Most, description: 'So many start' }),
    periodMs: Type.Integer({ minimum: 1, maximum: 86_400_000, description: 'in so many milliseconds' }),
    burst: Type.Optional(
      Type.Integer({ ...Most, description: 'So many may start at once; as `jobs` by default' }),
    ),
  },
  { additionalProperties: false },
);

const QueueItem = Type.Object({
  name: Type.String({ ...Name, examples: ['default'] }),
  counts: Counts,
  concurrencyLimit: Type.Union([Type.Integer(Most), Type.Null()], {
    default: null,
    description: 'At most so many of its jobs run at once, over all servers; null for no limit',
  }),
  rateLimit: Type.Union([RateLimitItem, Type.Null()], {
    default: null,
    description: 'How many of its jobs start in a time, over all servers; null for no limit',
  }),
  pausedAt: nullable(Time),
  oldestEnqueuedAt: nullable(Time),
  servers: Type.Integer({ minimum: 0, description: 'Running servers that take jobs from it' }),
  createdAt: Time,
});

type Item = Static<typeof QueueItem>;

type Limits = Pick<Item, 'concurrencyLimit' | 'rateLimit'>;

const refusals = {
  'holds-jobs':
    'The queue holds jobs that have not finished: let them finish, cancel them, or move them to another queue',
  served: 'Servers take jobs from the queue: stop them, or let them serve other queues',
};

const unstarted: JobState[] = ['scheduled', 'awaiting', 'enqueued'];

/** `/queues`: the lines of jobs, how long they are and how fast they may go. */
export function queuesResource(storage: Pick<JobStorage, 'queues' | 'bulk'>, jobs: Resource): Resource {
  const find = async (name: string, transaction?: Transaction): Promise<Item | undefined> => {
    const queue = await storage.queues.find(name, transaction);
    return queue === null ? undefined : toQueueItem(queue);
  };
  /** Sets something of a queue that is still set as `set` has seen it; looks again if it is not. */
  const change = async (
    name: string,
    set: (queue: Queue) => Promise<QueueSettings | null>,
    transaction?: Transaction,
  ): Promise<Item | undefined> => {
    for (;;) {
      const queue = await storage.queues.find(name, transaction);
      if (queue === null) return undefined;
      if ((await set(queue)) !== null) return find(name, transaction);
    }
  };
  const setPaused =
    (set: 'pause' | 'resume') =>
    (name: string, _body: unknown, { transaction }: CallContext, check: Check<Item> | undefined) =>
      change(
        name,
        async (queue) => {
          check?.(toQueueItem(queue));
          return storage.queues[set](name, { seen: queue, transaction });
        },
        transaction,
      );
  const limit = (name: string, asked: ItemChange<Item, Limits>): Promise<Item | undefined> =>
    change(name, (queue) => storage.queues.limit(name, asked.apply(toQueueItem(queue)), { seen: queue }));
  return defineResource({
    name: 'queues',
    description: 'Named lines of jobs.',
    key: 'name',
    item: QueueItem,
    serverSet: ['name', 'counts', 'pausedAt', 'oldestEnqueuedAt', 'servers', 'createdAt'],
    filters: { name: 'exact' },
    operations: {
      pause: { summary: 'Let servers take no more jobs from it; running ones go on' },
      resume: { summary: 'Let servers take jobs from it again' },
      purge: { summary: 'Cancel every job of it that has not started' },
    },
    children: [{ resource: jobs, by: 'queue', serves: ['list', 'create', 'createMany'] }],
    storage: {
      seeks: true,
      list: async (query) => pageOf((await storage.queues.list()).map(toQueueItem), query),
      get: (name) => find(name),
      delete: async (name, check) => {
        for (;;) {
          const queue = await storage.queues.find(name);
          if (queue === null) return false;
          check?.(toQueueItem(queue));
          const deletion = await storage.queues.delete(name, { seen: queue });
          if (deletion === 'holds-jobs' || deletion === 'served') throw apiError(40902, refusals[deletion]);
          if (deletion !== 'changed') return deletion === 'deleted';
        }
      },
      replace: limit,
      patch: limit,
      operations: {
        pause: setPaused('pause'),
        resume: setPaused('resume'),
        purge: async (name, _body, { principal, transaction }, check) => {
          const queue = await find(name, transaction);
          if (queue === undefined) return undefined;
          check?.(queue); // it is changed by nothing but what becomes of its jobs
          const filter = { queue: [name], state: unstarted };
          const order = { action: 'cancel', filter, requestedBy: principal?.name ?? null } as const;
          if (transaction === undefined) await carryOut(storage.bulk, order);
          else await carryOutLater(storage.bulk, order, transaction);
          return find(name, transaction);
        },
      },
    },
  });
}

function toQueueItem(queue: Queue): Item {
  return {
    ...queue,
    pausedAt: toTime(queue.pausedAt),
    oldestEnqueuedAt: toTime(queue.oldestEnqueuedAt),
    createdAt: queue.createdAt.toISOString(),
  };
}
