import type { JobState, JobStorage } from '@longshore/jobs';
import { jobStates, type Queue, type QueueLimits, type QueueSettings } from '@longshore/jobs/storage';
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
import { runBulkOperation, runBulkOperationAfterCommit } from './bulk-work.js';
import { Name, nullable, Time, toTime } from './fields.js';
import { jobsBelow } from './not-allowed.js';
import {
  type PauseBody,
  pauseBody,
  pauseFieldNames,
  pauseFields,
  pauseNote,
  pauseOptions,
  replacesPause,
  toPauseItem,
} from './pauses.js';
import { audited, ReasonBody } from './reasons.js';

const Counts = Type.Object(
  Object.fromEntries(
    jobStates.map((state) => [
      state,
      Type.Integer({ minimum: 0, description: `How many of its jobs are in the state \`${state}\`` }),
    ]),
  ) as Record<JobState, TInteger>,
);

const Most = { minimum: 1, maximum: 1_000_000 };

const RateLimitItem = Type.Object(
  {
    jobs: Type.Integer({ ...Most, description: 'The number of jobs that may start per period' }),
    periodMs: Type.Integer({ minimum: 1, maximum: 86_400_000, description: 'The period in milliseconds' }),
    burst: Type.Optional(
      Type.Union([Type.Integer(Most), Type.Null()], {
        default: null,
        description: 'The number of jobs that may start at once; null for as many as `jobs`',
      }),
    ),
  },
  { additionalProperties: false },
);

const QueueItem = Type.Object({
  name: Type.String({ ...Name, examples: ['default'] }),
  counts: Type.Object(Counts.properties, { description: 'How many jobs it holds, by state' }),
  concurrencyLimit: Type.Union([Type.Integer(Most), Type.Null()], {
    default: null,
    description: 'The largest number of its jobs that may run at once, across all servers; null for no limit',
  }),
  rateLimit: Type.Union([RateLimitItem, Type.Null()], {
    default: null,
    description: 'The number of its jobs that may start per period, across all servers; null for no limit',
  }),
  ...pauseFields,
  oldestEnqueuedAt: nullable(
    Type.String({ format: 'date-time', description: 'When its oldest ready job became ready' }),
  ),
  servers: Type.Integer({ minimum: 0, description: 'The number of running servers that take jobs from it' }),
  createdAt: Time,
});

type Item = Static<typeof QueueItem>;

type Limits = Pick<Item, 'concurrencyLimit' | 'rateLimit'>;

const refusals = {
  'holds-jobs': 'The queue has unfinished jobs; let them finish, cancel them, or move them to another queue',
  served: 'Servers take jobs from the queue; stop them, or have them take jobs from other queues',
};

const each = 'Queues are changed one at a time, at /queues/{queue}.';

const unstarted: JobState[] = ['scheduled', 'awaiting', 'enqueued'];

/** `/queues`: the queues with their counts and limits. */
export function queuesResource(
  storage: Pick<JobStorage, 'queues' | 'bulk' | 'clock'>,
  jobs: Resource,
  requiresReason: boolean,
): Resource {
  const find = async (name: string, transaction?: Transaction): Promise<Item | undefined> => {
    const queue = await storage.queues.find(name, transaction);
    return queue === null ? undefined : toQueueItem(queue);
  };
  /**
   * Reads a queue and changes it with `set`, which resolves to `null` if the queue has changed since it was read. In
   * that case, tries again with the current queue. Returns `undefined` if there is no such queue.
   */
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
  const pause = (name: string, body: PauseBody, context: CallContext, check: Check<Item> | undefined) =>
    change(
      name,
      async (queue) => {
        check?.(toQueueItem(queue));
        const options = pauseOptions(body, context, storage.clock.now());
        return storage.queues.pause(name, {
          ...options,
          seen: check && queue,
          transaction: context.transaction,
          audit: audited(context, { action: 'queues/pause', target: name, reason: body.reason }, (before) =>
            replacesPause(before, options),
          ),
        });
      },
      context.transaction,
    );
  const resume = (
    name: string,
    { reason }: ReasonBody,
    context: CallContext,
    check: Check<Item> | undefined,
  ) =>
    change(
      name,
      async (queue) => {
        check?.(toQueueItem(queue));
        return storage.queues.resume(name, {
          seen: check && queue,
          transaction: context.transaction,
          audit: audited(
            context,
            { action: 'queues/resume', target: name, reason },
            (before) => before !== null && before.pausedAt !== null,
          ),
        });
      },
      context.transaction,
    );
  const limit = (name: string, requested: ItemChange<Item, Limits>): Promise<Item | undefined> =>
    change(name, (queue) =>
      storage.queues.limit(name, toLimits(requested.apply(toQueueItem(queue))), { seen: queue }),
    );
  return defineResource({
    name: 'queues',
    description:
      'Named, ordered lists of jobs, with their counts and limits. A queue is created when it is first named.',
    key: 'name',
    deletionReason: requiresReason ? 'required' : 'optional',
    item: QueueItem,
    serverSet: ['name', 'counts', ...pauseFieldNames, 'oldestEnqueuedAt', 'servers', 'createdAt'],
    filters: { name: { field: 'name', match: 'exact', description: 'Queues with these names.' } },
    operations: {
      pause: {
        summary: 'Pause a queue; running jobs continue',
        note: pauseNote,
        body: pauseBody(requiresReason),
      },
      resume: {
        summary: 'Resume a paused queue',
        note: 'Has no effect if it is not paused.',
        body: ReasonBody,
      },
      purge: {
        summary: 'Cancel all jobs in a queue that have not started',
        note: 'Running jobs continue. The answer comes once the jobs are cancelled; with an `Idempotency-Key`, it comes before, with the counts from before.',
        body: ReasonBody,
      },
    },
    children: [
      { resource: jobs, by: 'queue', serves: ['list', 'create', 'createMany'], notAllowed: jobsBelow },
    ],
    calls: {
      delete: {
        note: 'While it holds unfinished jobs, or servers take jobs from it, the answer is 409 (40902). Its finished jobs are kept.',
      },
    },
    notAllowed: {
      create: 'A queue is created when a job first names it; use POST /jobs.',
      replaceMany: each,
      deleteMany: each,
    },
    storage: {
      seeks: true,
      list: async (query) => pageOf((await storage.queues.list()).map(toQueueItem), query),
      get: (name) => find(name),
      delete: async (name, check, context) => {
        for (;;) {
          const queue = await storage.queues.find(name);
          if (queue === null) return false;
          check?.(toQueueItem(queue));
          const deletion = await storage.queues.delete(name, {
            seen: queue,
            audit: audited(
              context,
              { action: 'queues/delete', target: name, reason: context.reason },
              (result) => result === 'deleted',
            ),
          });
          if (deletion === 'holds-jobs' || deletion === 'served') throw apiError(40902, refusals[deletion]);
          if (deletion !== 'changed') return deletion === 'deleted';
        }
      },
      replace: limit,
      patch: limit,
      operations: {
        pause,
        resume,
        purge: async (name, { reason }, context, check) => {
          const { principal, transaction } = context;
          const queue = await find(name, transaction);
          if (queue === undefined) return undefined;
          check?.(queue); // no lock is needed, because purging does not change the queue itself
          const filter = { queue: [name], state: unstarted };
          const request = { action: 'cancel', filter, requestedBy: principal?.name ?? null } as const;
          const audit = audited(context, { action: 'queues/purge', target: name, reason }, () => true);
          if (transaction === undefined) await runBulkOperation(storage.bulk, request, audit);
          else await runBulkOperationAfterCommit(storage.bulk, request, { transaction, audit });
          return find(name, transaction);
        },
      },
    },
  });
}

function toLimits({ concurrencyLimit, rateLimit }: Limits): QueueLimits {
  if (rateLimit === null) return { concurrencyLimit, rateLimit };
  const { burst, ...rate } = rateLimit;
  return { concurrencyLimit, rateLimit: { ...rate, ...(typeof burst === 'number' && { burst }) } };
}

/** Converts a rate limit. Returns `null` if there is no limit, or if the stored limit is malformed. */
function toRateLimitItem(limit: Queue['rateLimit']): Item['rateLimit'] {
  if (typeof limit?.jobs !== 'number' || typeof limit.periodMs !== 'number') return null;
  const { jobs, periodMs, burst } = limit;
  return { jobs, periodMs, burst };
}

function toQueueItem(queue: Queue): Item {
  return {
    ...queue,
    rateLimit: toRateLimitItem(queue.rateLimit),
    ...toPauseItem(queue),
    oldestEnqueuedAt: toTime(queue.oldestEnqueuedAt),
    createdAt: queue.createdAt.toISOString(),
  };
}
