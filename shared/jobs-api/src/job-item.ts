import type { Job } from '@longshore/jobs';
import {
  type Attempt,
  bounds,
  continuationConditions,
  jobStates,
  maxCountedAttempts,
} from '@longshore/jobs/storage';
import Type, { type Static } from 'typebox';
import {
  createdAtOf,
  Id,
  integer,
  MaxAttempts,
  Name,
  nullable,
  Priority,
  text,
  Time,
  toTime,
} from './fields.js';

export const JobErrorItem = Type.Object({
  name: Type.String({ description: 'The class of the error', examples: ['TypeError'] }),
  message: Type.String(),
  stack: nullable(Type.String({ description: 'The stack trace' })),
});

/** A job, as the API shows it. */
export const JobItem = Type.Object({
  id: Id,
  name: Type.String({ description: 'The name of its definition', examples: ['test'] }),
  queue: Type.String({ examples: ['default'] }),
  state: Type.Enum([...jobStates]),
  priority: Priority,
  args: Type.Unknown({
    description: 'The arguments, as the handler receives them',
    examples: [{ waitMs: 10 }],
  }),
  result: Type.Unknown({ description: 'What the handler returned; null unless the job is done' }),
  error: nullable(JobErrorItem),
  attempt: Type.Integer({ minimum: 0, description: 'The current or latest attempt; 0 before the first' }),
  maxAttempts: integer(
    { least: 1, most: maxCountedAttempts },
    'How many attempts it gets before it fails for good; retrying a job by hand allows one more',
  ),
  createdAt: Type.String({ format: 'date-time', description: 'When it was created, as in its id' }),
  runAt: nullable(
    Type.String({ format: 'date-time', description: 'When it is or was due; null if it was ready at once' }),
  ),
  startedAt: nullable(Type.String({ format: 'date-time', description: 'When its latest attempt started' })),
  finishedAt: nullable(Time),
  progress: nullable(
    Type.Object(
      { percent: Type.Number({ minimum: 0, maximum: 100 }), message: nullable(Type.String()) },
      {
        description: 'The latest progress of the current or last attempt; null while the job waits',
      },
    ),
  ),
  serverId: nullable(
    Type.String({ format: 'uuid', description: 'The server that is running it or ran it last' }),
  ),
  tags: Type.Array(Type.String(), { description: 'Labels to find it by' }),
  parentId: nullable(
    Type.String({ format: 'uuid', description: 'The first of the jobs or batches that it depends on' }),
  ),
  batchId: nullable(Type.String({ format: 'uuid', description: 'The batch that it belongs to' })),
  recurringJobId: nullable(
    Type.String({
      description: 'The recurring job that enqueued it',
      examples: ['nightly-report'],
    }),
  ),
  idempotencyKey: nullable(Type.String()),
  unreadable: nullable(
    Type.Array(Type.String(), {
      description:
        'The fields whose stored values are invalid, and are shown as the nearest valid value or as null; null if all are valid',
    }),
  ),
});

const noChosenId =
  'the platform creates the ids of jobs; to repeat a request safely, send an idempotencyKey; to let jobs of one request depend on one another, refer to them in after.parents by their positions in the array';

/** The body that enqueues a job. */
export const NewJobItem = Type.Object(
  {
    name: Type.String({ ...Name, examples: ['test'] }),
    args: Type.Optional(
      Type.Unknown({
        description: 'The arguments; they must match the schema of the job definition. `{}` by default',
        examples: [{ waitMs: 10 }],
      }),
    ),
    queue: Type.Optional(Name),
    priority: Type.Optional(Priority),
    maxAttempts: Type.Optional(MaxAttempts),
    timeoutMs: Type.Optional(integer(bounds.timeoutMs, 'Time limit of one attempt, in milliseconds')),
    runAt: Type.Optional(
      Type.String({ format: 'date-time', description: 'The earliest time to run it, from 1970 to 9999' }),
    ),
    delayMs: Type.Optional(
      integer(
        bounds.delayMs,
        'The shortest delay before it runs, in milliseconds, up to ten years; cannot be combined with `runAt`',
      ),
    ),
    tags: Type.Optional(
      Type.Array(text(bounds.tagLength), {
        maxItems: bounds.tags.most,
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
            { minItems: bounds.parents.least, maxItems: bounds.parents.most },
          ),
          when: Type.Optional(
            Type.Enum([...continuationConditions], { description: 'How the parents must have finished' }),
          ),
        },
        {
          additionalProperties: false,
          description: 'Dependencies: the jobs or batches that must finish first',
        },
      ),
    ),
    concurrency: Type.Optional(
      Type.Object(
        {
          key: text(bounds.keyLength),
          limit: integer(bounds.concurrencyLimit),
        },
        {
          additionalProperties: false,
          description: 'Limits how many jobs of the queue with this key run at once',
        },
      ),
    ),
    unique: Type.Optional(
      Type.Object(
        {
          key: text(bounds.keyLength),
          periodMs: Type.Optional(integer(bounds.periodMs)),
          states: Type.Optional(Type.Array(Type.Enum([...jobStates]), { minItems: 1 })),
          onConflict: Type.Optional(Type.Enum(['keep', 'replace', 'reject'])),
        },
        {
          additionalProperties: false,
          description:
            'Creates no job while another one of this name in the queue holds the key; the answer is that job or, with `reject`, 409',
        },
      ),
    ),
    idempotencyKey: Type.Optional(
      text(
        bounds.keyLength,
        'For 24 hours, a repeated key returns the same job, or 409 if the name or the arguments differ',
      ),
    ),
  },
  { additionalProperties: false, 'x-unknown-fields': { id: noChosenId } },
);

export const AttemptItem = Type.Object({
  attempt: Type.Integer({ minimum: 1 }),
  outcome: Type.Enum(['processing', 'done', 'failed', 'cancelled', 'lost']),
  serverId: Type.String({ format: 'uuid' }),
  startedAt: Time,
  finishedAt: nullable(Time),
  error: nullable(JobErrorItem),
});

export function toJobItem(job: Job): Static<typeof JobItem> {
  // Listing the members explicitly takes a third of the time of copying them.
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
    createdAt: createdAtOf(job),
    runAt: toTime(job.runAt),
    startedAt: toTime(job.startedAt),
    finishedAt: toTime(job.finishedAt),
    progress: job.progress,
    serverId: job.serverId,
    tags: job.tags,
    parentId: job.parentId,
    batchId: job.batchId,
    recurringJobId: job.recurringJobId,
    idempotencyKey: job.idempotencyKey,
    unreadable: job.unreadable ?? null,
  };
}

export function toAttemptItem(attempt: Attempt): Static<typeof AttemptItem> {
  return { ...attempt, startedAt: attempt.startedAt.toISOString(), finishedAt: toTime(attempt.finishedAt) };
}
