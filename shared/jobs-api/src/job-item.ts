import type { Job } from '@longshore/jobs';
import { bounds, continuationConditions, jobStates, maxCountedAttempts } from '@longshore/jobs/storage';
import Type, { type Static } from 'typebox';
import {
  createdAtOf,
  Id,
  integer,
  Name,
  nullable,
  nullInExamples,
  Priority,
  RecurringJobId,
  Tag,
  text,
  Time,
  toTime,
} from './fields.js';
import {
  ConcurrencyItem,
  concurrencyOf,
  NewConcurrency,
  NewUniqueness,
  UniquenessItem,
} from './key-items.js';

export const JobErrorItem = Type.Object({
  name: { ...text(bounds.errorName, 'The class of the error'), examples: ['TypeError'] },
  message: text(bounds.errorMessage, 'What went wrong'),
  stack: nullable(Type.String({ description: 'The stack trace' })),
});

/** Maximum number of awaited signals that are shown. */
const maxAwaited = 1_000;

/** A job as the API shows it. Taken together, the examples of the fields describe a job that is done. */
export const JobItem = Type.Object({
  id: Id,
  name: Type.String({ ...Name, description: 'The name of its definition', examples: ['test'] }),
  queue: Type.String({
    ...Name,
    description: 'The queue that it is in, or was in last',
    examples: ['default'],
  }),
  state: Type.Enum([...jobStates], { examples: ['done'] }),
  priority: Priority,
  args: Type.Unknown({
    description: 'The arguments that it was enqueued with',
    examples: [{ waitMs: 10 }],
  }),
  result: Type.Unknown({
    description: 'What the handler returned; null unless the job is done',
    examples: [{ file: 'results/0198c6e0-7b5e-7c3a-9f2e-3d1b5a7c9e01.txt', waitedMs: 10 }],
  }),
  error: nullable(JobErrorItem, nullInExamples),
  attempt: Type.Integer({ minimum: 0, description: 'The current or latest attempt; 0 before the first' }),
  maxAttempts: {
    ...integer(
      { min: 1, max: maxCountedAttempts },
      'How many attempts it gets before it fails for good, at most 1000 when it is set; retrying a job by hand allows one more',
    ),
    examples: [10],
  },
  timeoutMs: nullable(
    integer(
      bounds.timeoutMs,
      'Time limit of one attempt, in milliseconds; null if that of the job definition applies',
    ),
    nullInExamples,
  ),
  version: integer(bounds.version, 'The version of the job definition for which its arguments were written'),
  createdAt: Type.String({ format: 'date-time', description: 'When it was created: the time in its id' }),
  runAt: nullable(
    Type.String({
      format: 'date-time',
      description: 'When it is or was due, even if it was run earlier; null if it was ready at once',
    }),
  ),
  delayMs: nullable(
    Type.Number({
      minimum: bounds.delayMs.min,
      maximum: bounds.delayMs.max,
      description:
        'The delay of a job that waits for others, in milliseconds, counted from the end of the last one; null if there is none, or if it has started: `runAt` is then its end',
    }),
    nullInExamples,
  ),
  startedAt: nullable(Type.String({ format: 'date-time', description: 'When its latest attempt started' })),
  finishedAt: nullable(Time),
  progress: nullable(
    Type.Object(
      {
        percent: Type.Number({ minimum: 0, maximum: 100, description: 'How much is done, in percent' }),
        message: nullable(text(bounds.progressMessage, 'What the handler reported with it')),
      },
      {
        description: 'The latest progress of the current or last attempt; null while the job waits',
      },
    ),
    nullInExamples,
  ),
  serverId: nullable(
    Type.String({ format: 'uuid', description: 'The server that is running it or ran it last' }),
  ),
  cancelRequestedAt: nullable(
    Type.String({
      format: 'date-time',
      description:
        'When someone asked to cancel it while it was running; null once it has ended, and if nobody has asked',
    }),
    nullInExamples,
  ),
  cancelReason: nullable(
    text(bounds.reasonLength, 'The reason that was given with that request'),
    nullInExamples,
  ),
  tags: Type.Array(Tag, { maxItems: bounds.tags.max, description: 'Labels to find it by' }),
  after: nullable(
    Type.Object(
      {
        parents: Type.Array(Type.String({ format: 'uuid' }), {
          maxItems: bounds.parents.max,
          description: 'The jobs and batches that it depends on',
        }),
        when: Type.Enum([...continuationConditions], {
          description: 'How each of them must finish: as done, as failed, or in any state',
        }),
      },
      { description: 'Its dependencies; null if it has none' },
    ),
    nullInExamples,
  ),
  batchId: nullable(
    Type.String({ format: 'uuid', description: 'The batch that it belongs to' }),
    nullInExamples,
  ),
  recurringJobId: nullable(
    Type.String({
      ...RecurringJobId,
      description: 'The recurring job that enqueued it',
      examples: ['nightly-report'],
    }),
    nullInExamples,
  ),
  enqueuedBy: nullable(
    Type.String({ format: 'uuid', description: 'The job whose handler enqueued it' }),
    nullInExamples,
  ),
  correlate: nullable(text(bounds.keyLength, 'A key by which signals find it'), nullInExamples),
  awaits: Type.Array(text(bounds.keyLength), {
    maxItems: maxAwaited,
    description: 'The names of the signals that its handler waits for; empty unless it is scheduled',
    examples: [[]],
  }),
  concurrency: nullable(ConcurrencyItem, nullInExamples),
  unique: nullable(UniquenessItem, nullInExamples),
  idempotencyKey: nullable(text(bounds.keyLength, 'The key that it was enqueued with'), nullInExamples),
  traceparent: nullable(
    Type.String({
      pattern: '^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$',
      description: 'The trace that it belongs to, as in W3C Trace Context; null if it was given none',
    }),
    nullInExamples,
  ),
  unreadable: nullable(
    Type.Array(Type.String({ maxLength: 100 }), {
      maxItems: 100,
      description:
        'The fields whose stored values are invalid, and are shown as the nearest valid value or as null; null if all are valid',
    }),
    nullInExamples,
  ),
});

const due = { delayMs: { description: 'A delay' }, runAt: { description: 'A time' } };
const dueTwice = { type: 'object', properties: due, required: Object.keys(due) };
const noChosenId =
  'the platform creates the ids of jobs; to repeat a request safely, send an idempotencyKey; to let jobs of one request depend on one another, refer to them in after.parents by their positions in the array';

const fromDefinition = '; by default, as in the job definition';

/** A request body that enqueues a job. */
export const NewJobItem = Type.Object(
  {
    name: Type.String({ ...Name, description: 'The name of its job definition', examples: ['test'] }),
    args: Type.Optional(
      Type.Unknown({
        description: 'The arguments; they must match the schema of the job definition. `{}` by default',
        examples: [{ waitMs: 10 }],
      }),
    ),
    queue: Type.Optional(Type.String({ ...Name, description: `The queue${fromDefinition}` })),
    priority: Type.Optional(
      integer(bounds.priority, `Within a queue, lower numbers run first${fromDefinition}`),
    ),
    maxAttempts: Type.Optional(
      integer(bounds.maxAttempts, `How many attempts it gets before it fails for good${fromDefinition}`),
    ),
    timeoutMs: Type.Optional(
      integer(bounds.timeoutMs, `Time limit of one attempt, in milliseconds${fromDefinition}`),
    ),
    version: Type.Optional(
      integer(
        bounds.version,
        'The version of the job definition for which the arguments were written; by default that of the definition, or 1 if the API does not have it',
      ),
    ),
    runAt: Type.Optional(
      Type.String({
        format: 'date-time',
        description: 'The earliest time to run it, from 1970 to 9999; cannot be combined with `delayMs`',
      }),
    ),
    delayMs: Type.Optional(
      integer(
        bounds.delayMs,
        'The shortest delay before it runs, in milliseconds, up to ten years; cannot be combined with `runAt`',
      ),
    ),
    tags: Type.Optional(
      Type.Array(Tag, {
        maxItems: bounds.tags.max,
        description: 'Labels to find it by',
      }),
    ),
    after: Type.Optional(
      Type.Object(
        {
          parents: Type.Array(
            Type.Union([
              Type.String({ format: 'uuid', description: 'The id of a job or batch' }),
              Type.Integer({
                minimum: 0,
                maximum: 9_999,
                description: 'The position of an earlier job in the array of this request, counted from 0',
              }),
            ]),
            {
              minItems: bounds.parents.min,
              maxItems: bounds.parents.max,
              description: 'The jobs and batches that must finish first',
            },
          ),
          when: Type.Optional(
            Type.Enum([...continuationConditions], {
              description:
                'How each parent must finish: as done (`onDone`, the default), as failed (`onFailed`), or in any state (`onAny`). If one finishes otherwise, the job is cancelled',
            }),
          ),
        },
        {
          additionalProperties: false,
          description: 'Dependencies: the jobs or batches that must finish first',
        },
      ),
    ),
    concurrency: Type.Optional(NewConcurrency),
    unique: Type.Optional(NewUniqueness),
    correlate: Type.Optional(
      text(
        bounds.keyLength,
        'A key by which signals find the job, if their sender does not know its id; jobs can share one',
      ),
    ),
    idempotencyKey: Type.Optional(
      text(
        bounds.keyLength,
        'For 24 hours, a repeated key returns the same job, or 409 if the name or the arguments differ',
      ),
    ),
  },
  { additionalProperties: false, not: dueTwice, 'x-unknown-fields': { id: noChosenId } },
);

const { after: _after, ...ofCallback } = NewJobItem.properties;

/** The callback in a request body that creates a batch. */
export const NewCallbackItem = Type.Object(ofCallback, {
  additionalProperties: false,
  'x-unknown-fields': { id: noChosenId, after: 'a callback waits for its batch and for nothing else' },
  description: 'The job that runs when all others have finished',
});

export function toJobItem(job: Job): Static<typeof JobItem> {
  // Listing the members explicitly is faster than copying the object.
  return {
    id: job.id,
    name: job.name,
    queue: job.queue,
    state: job.state,
    priority: job.priority,
    args: job.args,
    result: job.result,
    error: job.error,
    attempt: job.attempt,
    maxAttempts: job.maxAttempts,
    timeoutMs: job.timeoutMs,
    version: job.version,
    createdAt: createdAtOf(job),
    runAt: toTime(job.runAt),
    delayMs: job.delayMs,
    startedAt: toTime(job.startedAt),
    finishedAt: toTime(job.finishedAt),
    progress: job.progress,
    serverId: job.serverId,
    cancelRequestedAt: toTime(job.cancelRequestedAt),
    cancelReason: job.cancelReason,
    tags: job.tags,
    after: afterOf(job),
    batchId: job.batchId,
    recurringJobId: job.recurringJobId,
    enqueuedBy: job.enqueuedBy,
    correlate: job.correlate,
    awaits: job.awaits.slice(0, maxAwaited),
    concurrency: concurrencyOf(job),
    unique: job.unique === null ? null : { ...job.unique, states: [...job.unique.states] },
    idempotencyKey: job.idempotencyKey,
    traceparent: job.traceparent,
    unreadable: job.unreadable === undefined ? null : unreadableFields(job.unreadable),
  };
}

function afterOf({ parentIds, parentCondition }: Job): Static<typeof JobItem>['after'] {
  return parentCondition === null ? null : { parents: parentIds, when: parentCondition };
}

/** The fields of an item that have other names than the members of a job from which they come. */
const fieldOf: Readonly<Partial<Record<string, keyof typeof JobItem.properties>>> = {
  parentId: 'after',
  parentIds: 'after',
  parentCondition: 'after',
  concurrencyKey: 'concurrency',
  concurrencyLimit: 'concurrency',
  concurrencyRate: 'concurrency',
  traceId: 'traceparent',
};

function unreadableFields(members: readonly string[]): string[] {
  return [...new Set(members.map((member) => fieldOf[member] ?? member))];
}
