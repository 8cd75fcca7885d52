import { type JobControl, jobStates, type JobReader, type JobState, type Queue } from '@longshore/jobs';
import { defineResource, type Resource } from '@longshore/resources';
import Type, { type Static, type TInteger } from 'typebox';

const Counts = Type.Object(
  Object.fromEntries(jobStates.map((state) => [state, Type.Integer({ minimum: 0 })])) as Record<
    JobState,
    TInteger
  >,
);

const QueueItem = Type.Object({
  name: Type.String({ examples: ['default'] }),
  counts: Counts,
  pausedAt: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
  oldestEnqueuedAt: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
  servers: Type.Integer({ minimum: 0, description: 'Running servers that take jobs from it' }),
  createdAt: Type.String({ format: 'date-time' }),
});

/** `/queues`: the lines of jobs and how long they are. */
export function queuesResource(storage: JobReader & JobControl): Resource {
  const find = async (name: string): Promise<Static<typeof QueueItem> | undefined> => {
    const queue = (await storage.listQueues()).find((candidate) => candidate.name === name);
    return queue === undefined ? undefined : toQueueItem(queue);
  };
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
    },
    storage: {
      list: async ({ filters, sort, limit, offset }) => {
        const queues = await storage.listQueues();
        const names = filters.find(({ field }) => field === 'name')?.values;
        const matching = names === undefined ? queues : queues.filter(({ name }) => names.includes(name));
        if (sort[0]?.direction === 'desc') matching.reverse();
        return { items: matching.slice(offset, offset + limit).map(toQueueItem), total: matching.length };
      },
      get: find,
      operations: {
        pause: async (name) => {
          if ((await find(name)) === undefined) return undefined;
          await storage.pauseQueue(name);
          return find(name);
        },
        resume: async (name) => {
          if ((await find(name)) === undefined) return undefined;
          await storage.resumeQueue(name);
          return find(name);
        },
      },
    },
  });
}

function toQueueItem(queue: Queue): Static<typeof QueueItem> {
  return {
    ...queue,
    pausedAt: queue.pausedAt?.toISOString() ?? null,
    oldestEnqueuedAt: queue.oldestEnqueuedAt?.toISOString() ?? null,
    createdAt: queue.createdAt.toISOString(),
  };
}
