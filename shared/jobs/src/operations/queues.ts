import Type, { type Static } from 'typebox';
import { bounds } from '../job/bounds.js';
import type { Queue } from '../job/job.js';
import { storable } from '../job/storable.js';
import type { JobState } from '../job/state.js';
import type { BulkOperation } from '../storage/bulk-operations.js';
import { maxTokens, type QueueLimits } from '../job/queue-limits.js';
import type {
  KeyLimiting,
  QueueControlResult,
  QueueCreation,
  QueueDeletion,
  QueueSettings,
} from '../storage/queues.js';
import { type Call, noFields, operation, type OperableStorage } from './operation.js';
import {
  factsOfPause,
  factsOfResumption,
  type PauseFields,
  pauseOptionsOf,
  pausing,
  resuming,
} from './pauses.js';

const Tokens = { minimum: 1, maximum: maxTokens };

export const RateLimitFields = Type.Object(
  {
    jobs: Type.Integer({ ...Tokens, description: 'The number of jobs that may start per period' }),
    periodMs: Type.Integer({ minimum: 1, maximum: 86_400_000, description: 'The period in milliseconds' }),
    burst: Type.Optional(
      Type.Union([Type.Integer(Tokens), Type.Null()], {
        default: null,
        description: 'The number of jobs that may start at once; null for as many as `jobs`',
      }),
    ),
  },
  { additionalProperties: false },
);

export const LimitFields = Type.Object(
  {
    concurrencyLimit: Type.Union([Type.Integer(Tokens), Type.Null()], {
      default: null,
      description:
        'The largest number of its jobs that may run at once, across all servers; null for no limit',
    }),
    rateLimit: Type.Union([RateLimitFields, Type.Null()], {
      default: null,
      description: 'The number of its jobs that may start per period, across all servers; null for no limit',
    }),
  },
  { additionalProperties: false },
);

const KeyLimitFields = Type.Object(
  {
    concurrencyKey: Type.String({
      minLength: bounds.keyLength.min,
      maxLength: bounds.keyLength.max,
      description: 'The key, such as the id of a tenant',
    }),
    limit: Type.Integer({
      minimum: bounds.concurrencyLimit.min,
      maximum: bounds.concurrencyLimit.max,
      description: 'The largest number of jobs with the key that may run at once, across all servers',
    }),
  },
  { additionalProperties: false },
);

const unstarted: JobState[] = ['scheduled', 'awaiting', 'enqueued'];

const refusals = {
  'holds-jobs': 'it has unfinished jobs; let them finish, cancel them, or move them to another queue',
  served: 'servers take jobs from it; stop them, or have them take jobs from other queues',
} as const;

/** The operations on a queue. */
export const queueOperations = {
  create: operation<typeof LimitFields, Queue, QueueCreation>({
    on: 'queues',
    name: 'create',
    summary: 'Create a queue, with limits',
    note: 'Queues are also created when they are first named. With this, a queue has its limits before its first job.',
    done: 'created',
    message: 'The queue is created.',
    role: 'operator',
    fields: LimitFields,
    change: ({ queues }, { target, fields }, options) => queues.create(target, limitsFrom(fields), options),
    facts: (creation) =>
      creation === 'created'
        ? { outcome: 'done' }
        : { outcome: 'illegal', why: 'there is already such a queue' },
    after: queueAfter,
  }),
  pause: operation<typeof PauseFields, Queue, QueueControlResult>({
    ...pausing,
    on: 'queues',
    summary: 'Pause a queue; running jobs continue',
    message: 'The queue is paused. Its jobs do not start until it is resumed.',
    change: ({ queues }, call, options) =>
      onCurrent(queues, call, (seen) =>
        queues.pause(call.target, { ...options, ...pauseOptionsOf(call), seen }),
      ),
    facts: (before, call) => before && factsOfPause(before, call),
    after: queueAfter,
  }),
  resume: operation<typeof noFields, Queue, QueueControlResult>({
    ...resuming,
    on: 'queues',
    summary: 'Resume a paused queue',
    message: 'The queue is resumed.',
    fields: noFields,
    change: ({ queues }, call, options) =>
      onCurrent(queues, call, (seen) => queues.resume(call.target, { ...options, seen })),
    facts: (before) => before && factsOfResumption(before),
    after: queueAfter,
  }),
  limit: operation<typeof LimitFields, Queue, QueueControlResult>({
    on: 'queues',
    name: 'limit',
    summary: 'Set the limits of a queue',
    done: 'limited',
    message: 'The limits have been updated.',
    role: 'operator',
    fields: LimitFields,
    change: ({ queues }, call, options) =>
      onCurrent(queues, call, (seen) =>
        queues.limit(call.target, limitsFrom(call.fields), { ...options, seen }),
      ),
    facts: (before) => before && { outcome: 'done', before: limitsOf(before) },
    after: queueAfter,
  }),
  limitKey: operation<typeof KeyLimitFields, Queue, KeyLimiting | null>({
    on: 'queues',
    name: 'limit-key',
    noun: 'concurrency key',
    summary: 'Set the limit of a concurrency key for the jobs that it blocks now',
    note: 'As many of these jobs as now have room become ready. Jobs that are enqueued later have the limit that code gives them.',
    done: 'limited',
    message: 'The jobs that the key blocks have the new limit.',
    role: 'operator',
    fields: KeyLimitFields,
    change: async ({ queues }, { target, fields, check, transaction }, options) => {
      const queue = await queues.find(target, transaction);
      if (queue === null) return null;
      check?.(queue); // no lock is needed, because the queue itself does not change
      return queues.limitKey(target, fields.concurrencyKey, fields.limit, options);
    },
    facts: (limiting, { fields: { concurrencyKey } }) => {
      if (limiting === null) return null;
      const { changed, before } = limiting;
      if (before.length === 0)
        return { outcome: 'illegal', why: `no job of the queue is blocked by the key “${concurrencyKey}”` };
      return {
        outcome: changed === 0 ? 'unchanged' : 'done',
        count: { count: changed, exact: true },
        before: { limit: before.length === 1 ? (before[0] ?? null) : [...before] },
      };
    },
    after: queueAfter,
  }),
  purge: operation<typeof noFields, Queue, BulkOperation | null, string, BulkOperation>({
    on: 'queues',
    name: 'purge',
    summary: 'Cancel all jobs in a queue that have not started',
    note: 'Running jobs continue. The answer comes once the jobs are cancelled; with an `Idempotency-Key`, it comes before, with the counts from before.',
    done: 'purged',
    role: 'operator',
    fields: noFields,
    change: async ({ queues, bulk }, { target, check, transaction, by }, options) => {
      const queue = await queues.find(target, transaction);
      if (queue === null) return null;
      check?.(queue); // no lock is needed, because purging does not change the queue itself
      const filter = { queue: [target], state: unstarted };
      return bulk.start(
        { action: 'cancel', filter, reason: options.reason, requestedBy: storable(by.name, 200) },
        options,
      );
    },
    facts: (started) => started && { outcome: 'done', count: started.matched },
    after: (_storage, _call, started) => started,
  }),
  delete: operation<typeof noFields, Queue, QueueDeletion | null>({
    on: 'queues',
    name: 'delete',
    summary: 'Delete a queue',
    note: 'While it holds unfinished jobs, or servers take jobs from it, it cannot be deleted. Its finished jobs are kept.',
    done: 'deleted',
    message: 'The queue is deleted. Its finished jobs are kept.',
    role: 'admin',
    isReasoned: true,
    fields: noFields,
    change: ({ queues }, call, options) =>
      onCurrent<QueueDeletion>(queues, call, async (seen) => {
        const deletion = await queues.delete(call.target, { ...options, seen });
        return deletion === 'changed' ? null : deletion;
      }),
    facts: (deletion) => {
      if (deletion === null || deletion === 'changed') return null;
      if (deletion === 'deleted') return { outcome: 'done' };
      return deletion === 'unknown'
        ? { outcome: 'unknown' }
        : { outcome: 'illegal', why: refusals[deletion] };
    },
    after: () => null,
  }),
};

/**
 * Checks the queue and changes it with `set`, which resolves to `null` if the queue has changed since it was read. In
 * that case, tries again with the current queue. Resolves to `null` if there is no such queue.
 */
async function onCurrent<Result>(
  queues: OperableStorage['queues'],
  { target, check, transaction }: Call<string, unknown, Queue>,
  set: (seen: Queue | undefined) => Promise<Result | null>,
): Promise<Result | null> {
  for (;;) {
    const queue = await queues.find(target, transaction);
    if (queue === null) return null;
    check?.(queue);
    const result = await set(check && queue);
    if (result !== null) return result;
  }
}

function queueAfter(
  { queues }: OperableStorage,
  { target, transaction }: Call<string, unknown, Queue>,
): Promise<Queue | null> {
  return queues.find(target, transaction);
}

function limitsFrom({ concurrencyLimit, rateLimit }: Static<typeof LimitFields>): QueueLimits {
  if (rateLimit === null) return { concurrencyLimit, rateLimit };
  const { burst, ...rate } = rateLimit;
  return { concurrencyLimit, rateLimit: { ...rate, ...(typeof burst === 'number' && { burst }) } };
}

/** Returns stored limits in the format of {@link LimitFields}. */
function limitsOf({ concurrencyLimit, rateLimit }: QueueSettings): Static<typeof LimitFields> {
  if (rateLimit === null) return { concurrencyLimit, rateLimit };
  const { jobs, periodMs, burst } = rateLimit;
  return { concurrencyLimit, rateLimit: { jobs, periodMs, ...(burst === jobs ? {} : { burst }) } };
}
