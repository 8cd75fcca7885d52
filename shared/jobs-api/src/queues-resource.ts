import type { JobState } from '@longshore/jobs';
import { LimitFields, type OperableStorage, queueOperations } from '@longshore/jobs/operations';
import { jobStates, type Queue } from '@longshore/jobs/storage';
import {
  apiError,
  type CallContext,
  defineResource,
  type ItemChange,
  pageOf,
  type Resource,
} from '@longshore/resources';
import Type, { type Static, type TInteger } from 'typebox';
import { endOf, startAfterCommit } from './bulk-operations-resource.js';
import { withApiErrors } from './enqueue-requests.js';
import { Name, nullable, pauseFieldNames, pauseFields, Time, toPauseItem, toTime } from './fields.js';
import { jobsBelow } from './job-lists.js';
import { attempt, checkOf, declarationOf, functionOf, perform, served } from './operations.js';
import type { CallerQuotas } from './quotas.js';

const Counts = Type.Object(
  Object.fromEntries(
    jobStates.map((state) => [
      state,
      Type.Integer({ minimum: 0, description: `How many of its jobs are in the state \`${state}\`` }),
    ]),
  ) as Record<JobState, TInteger>,
);

const InCode = Type.Object(
  {
    application: Type.String({ description: 'The application that defines them' }),
    concurrencyLimit: Type.Optional(LimitFields.properties.concurrencyLimit),
    rateLimit: Type.Optional(LimitFields.properties.rateLimit),
    paused: Type.Optional(Type.Boolean({ description: 'Whether the queue is paused' })),
    differs: Type.Array(Type.Enum(['concurrencyLimit', 'rateLimit', 'paused']), {
      description: 'Which of them operators have changed since; the change lasts until the code changes',
    }),
  },
  { description: 'The settings that an application defines in code; null if none does' },
);

const QueueItem = Type.Object({
  name: Type.String({ ...Name, examples: ['default'] }),
  counts: Type.Object(Counts.properties, { description: 'How many jobs it holds, by state' }),
  ...LimitFields.properties,
  ...pauseFields,
  inCode: nullable(InCode),
  oldestEnqueuedAt: nullable(
    Type.String({ format: 'date-time', description: 'When its oldest ready job became ready' }),
  ),
  servers: Type.Integer({ minimum: 0, description: 'The number of running servers that take jobs from it' }),
  createdAt: Time,
});

type Item = Static<typeof QueueItem>;

type Limits = Pick<Item, 'concurrencyLimit' | 'rateLimit'>;

const oneAtATime = 'Queues are changed one at a time, at /queues/{queue}.';

interface QueuesResourceParts {
  readonly storage: OperableStorage;
  readonly jobs: Resource;
  readonly quotas: CallerQuotas;
}

const NewQueueItem = Type.Object(
  {
    name: Type.String({ ...Name, examples: ['campaign'] }),
    concurrencyLimit: Type.Optional(LimitFields.properties.concurrencyLimit),
    rateLimit: Type.Optional(LimitFields.properties.rateLimit),
  },
  { additionalProperties: false },
);

/** `/queues`: the queues with their counts and limits. */
export function queuesResource(
  { storage, jobs, quotas }: QueuesResourceParts,
  requiresReason: boolean,
): Resource {
  const serving = { storage, requiresReason, toItem: toQueueItem };
  const { declarations, functions } = served(
    [queueOperations.pause, queueOperations.resume, queueOperations.limitKey],
    serving,
  );
  const find = async (name: string, { transaction }: Pick<CallContext, 'transaction'> = {}) => {
    const queue = await storage.queues.find(name, transaction);
    return queue === null ? undefined : toQueueItem(queue);
  };
  const limit = async (target: string, requested: ItemChange<Item, Limits>, context: CallContext) => {
    const fields: Limits = { concurrencyLimit: null, rateLimit: null };
    // The new limits depend on the current ones, which the check receives before each attempt.
    const check = (queue: Queue): unknown => Object.assign(fields, requested.apply(toQueueItem(queue)));
    const { subject } = await perform(queueOperations.limit, storage, context, { target, fields, check });
    return subject === null ? undefined : toQueueItem(subject);
  };
  return defineResource({
    name: 'queues',
    description:
      'Named, ordered lists of jobs, with their counts and limits. A queue is created when it is first named, or with its limits before.',
    key: 'name',
    deletionReason: requiresReason ? 'required' : 'optional',
    item: QueueItem,
    serverSet: ['name', 'counts', ...pauseFieldNames, 'inCode', 'oldestEnqueuedAt', 'servers', 'createdAt'],
    create: NewQueueItem,
    filters: { name: { field: 'name', match: 'exact', description: 'Queues with these names.' } },
    operations: { ...declarations, purge: declarationOf(queueOperations.purge, requiresReason) },
    children: [
      { resource: jobs, by: 'queue', serves: ['list', 'create', 'createMany'], notAllowed: jobsBelow },
    ],
    calls: {
      create: { note: queueOperations.create.note },
      delete: { note: queueOperations.delete.note },
    },
    notAllowed: {
      replaceMany: oneAtATime,
      deleteMany: oneAtATime,
    },
    storage: {
      seeks: true,
      list: async (query) => pageOf((await storage.queues.list()).map(toQueueItem), query),
      get: (name) => find(name),
      create: async ({ name, ...limits }, context) => {
        const fields = { concurrencyLimit: null, rateLimit: null, ...limits };
        const { facts, subject } = await withApiErrors(async () => {
          await quotas.admitQueue(name, context);
          return attempt(queueOperations.create, storage, context, { target: name, fields });
        });
        if (facts.outcome === 'done' && subject !== null) return toQueueItem(subject);
        throw apiError(
          40901,
          `There is already a queue "${name}"; use PATCH /queues/{queue} to change its limits`,
        );
      },
      delete: async (target, check, context) => {
        const { reason } = context;
        const call = { target, fields: {}, reason, check: checkOf(check, toQueueItem) };
        return (await perform(queueOperations.delete, storage, context, call)).facts.outcome === 'done';
      },
      replace: limit,
      patch: limit,
      operations: {
        ...functions,
        purge: functionOf(queueOperations.purge, {
          ...serving,
          answer: async (started, target, context) => {
            // In a caller's transaction, the work starts after the commit.
            if (context.transaction === undefined) await endOf(storage.bulk, started);
            else startAfterCommit(storage.bulk, started, context.transaction);
            return find(target, context);
          },
        }),
      },
    },
  });
}

/** Converts a rate limit. Returns `null` if there is no limit, or if the stored limit is malformed. */
function toRateLimitItem(limit: Queue['rateLimit']): Item['rateLimit'] {
  if (typeof limit?.jobs !== 'number' || typeof limit.periodMs !== 'number') return null;
  const { jobs, periodMs, burst } = limit;
  return { jobs, periodMs, burst };
}

function toInCodeItem(inCode: Queue['inCode']): Item['inCode'] {
  if (inCode === null) return null;
  const { rateLimit, differs, ...rest } = inCode;
  return {
    ...rest,
    ...(rateLimit !== undefined && { rateLimit: toRateLimitItem(rateLimit) }),
    differs: [...differs],
  };
}

function toQueueItem(queue: Queue): Item {
  return {
    ...queue,
    rateLimit: toRateLimitItem(queue.rateLimit),
    ...toPauseItem(queue),
    inCode: toInCodeItem(queue.inCode),
    oldestEnqueuedAt: toTime(queue.oldestEnqueuedAt),
    createdAt: queue.createdAt.toISOString(),
  };
}
