import type { Job } from '@longshore/jobs';
import {
  type Attempt,
  bounds,
  continuationConditions,
  jobStates,
  maxCountedAttempts,
} from '@longshore/jobs/storage';
import Type, { type Static } from 'typebox';
import { Id, integer, MaxAttempts, Name, nullable, Priority, text, Time, toTime } from './fields.js';

export const JobErrorItem = Type.Object({
  name: Type.String({ examples: ['TypeError'] }),
  message: Type.String(),
  stack: nullable(Type.String()),
});

/** A job as the API shows it. */
export const JobItem = Type.Object({
  id: Id,
  name: Type.String({ description: 'The name of its definition', examples: ['test'] }),
  queue: Type.String({ examples: ['default'] }),
  state: Type.Enum([...jobStates]),
  priority: Priority,
  args: Type.Unknown({ description: 'What the job was given' }),
  result: Type.Unknown({ description: 'What its handler returned; null until it is done' }),
  error: nullable(JobErrorItem),
  attempt: Type.Integer({ minimum: 0, description: 'The current or latest attempt; 0 before the first' }),
  maxAttempts: integer(
    { least: 1, most: maxCountedAttempts },
    'After so many attempts a failure is final; an operator who retries a job allows one more',
  ),
  createdAt: Time,
  runAt: nullable(Time),
  startedAt: nullable(Time),
  finishedAt: nullable(Time),
  progress: nullable(
    Type.Object(
      { percent: Type.Number({ minimum: 0, maximum: 100 }), message: nullable(Type.String()) },
      {
        description: 'What the attempt that runs, or that ended the job, last said; null while the job waits',
      },
    ),
  ),
  serverId: nullable(Type.String({ format: 'uuid' })),
  tags: Type.Array(Type.String(), { description: 'Words to find it by' }),
  parentId: nullable(Type.String({ format: 'uuid', description: 'The job that it waits or waited for' })),
  batchId: nullable(Type.String({ format: 'uuid' })),
  recurringJobId: nullable(
    Type.String({
      description: 'The recurring job whose schedule enqueued it',
      examples: ['nightly-report'],
    }),
  ),
  idempotencyKey: nullable(Type.String()),
  unreadable: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'Members whose stored value cannot be interpreted, shown as the nearest that can, or as null; left out by every other job',
    }),
  ),
});

const noChosenId =
  'the platform makes the id of a job. Send an idempotencyKey to enqueue it once however often the request is repeated, and after.parents with places in the array to let jobs of one request wait for one another';

/** What a client sends to have a job done. */
export const NewJobItem = Type.Object(
  {
    name: Name,
    args: Type.Optional(
      Type.Unknown({ description: 'Checked against the schema of the job definition; {} by default' }),
    ),
    queue: Type.Optional(Name),
    priority: Type.Optional(Priority),
    maxAttempts: Type.Optional(MaxAttempts),
    timeoutMs: Type.Optional(integer(bounds.timeoutMs, 'Of one attempt, in milliseconds')),
    runAt: Type.Optional(
      Type.String({ format: 'date-time', description: 'Not before this time, from 1970 to 9999' }),
    ),
    delayMs: Type.Optional(
      integer(bounds.delayMs, 'Not before so many milliseconds have passed, up to ten years; excludes runAt'),
    ),
    tags: Type.Optional(
      Type.Array(text(bounds.tagLength), {
        maxItems: bounds.tags.most,
        description: 'Words to find it by',
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
                description: 'The place, from 0, of an earlier job in the array of this request',
              }),
            ]),
            { minItems: bounds.parents.least, maxItems: bounds.parents.most },
          ),
          when: Type.Optional(Type.Enum([...continuationConditions])),
        },
        { additionalProperties: false, description: 'Only after other jobs or batches have ended' },
      ),
    ),
    concurrency: Type.Optional(
      Type.Object(
        {
          key: text(bounds.keyLength),
          limit: integer(bounds.concurrencyLimit),
        },
        { additionalProperties: false, description: 'At most so many jobs with this key run at once' },
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
            'No job is created while another of this name in the queue holds the key: the answer is that job, or 409 with `reject`',
        },
      ),
    ),
    idempotencyKey: Type.Optional(
      text(
        bounds.keyLength,
        'The same key again, for 24 hours, gives the same job; 409 with another name or other args',
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

export function toJobItem({ readyAt: _readyAt, ...job }: Job): Static<typeof JobItem> {
  return {
    ...job,
    createdAt: job.createdAt.toISOString(),
    runAt: toTime(job.runAt),
    startedAt: toTime(job.startedAt),
    finishedAt: toTime(job.finishedAt),
  };
}

export function toAttemptItem(attempt: Attempt): Static<typeof AttemptItem> {
  return { ...attempt, startedAt: attempt.startedAt.toISOString(), finishedAt: toTime(attempt.finishedAt) };
}
