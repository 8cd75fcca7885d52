import { type Attempt, type Job, jobStates } from '@longshore/jobs';
import Type, { type Static } from 'typebox';

const nullable = <Schema extends Type.TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
const Time = Type.String({ format: 'date-time' });

export const JobErrorItem = Type.Object({
  name: Type.String({ examples: ['TypeError'] }),
  message: Type.String(),
  stack: nullable(Type.String()),
});

/** A job as the API shows it. */
export const JobItem = Type.Object({
  id: Type.String({ format: 'uuid', description: 'UUIDv7: sorts by the time of creation' }),
  name: Type.String({ description: 'The name of its definition', examples: ['test'] }),
  queue: Type.String({ examples: ['default'] }),
  state: Type.Enum([...jobStates]),
  priority: Type.Integer({ minimum: -32_768, maximum: 32_767, description: 'Lower runs first' }),
  args: Type.Unknown({ description: 'What the job was given' }),
  result: Type.Unknown({ description: 'What its handler returned; null until it is done' }),
  error: nullable(JobErrorItem),
  attempt: Type.Integer({ minimum: 0, description: 'The current or latest attempt; 0 before the first' }),
  maxAttempts: Type.Integer({ minimum: 1, maximum: 1_000 }),
  createdAt: Time,
  runAt: nullable(Time),
  startedAt: nullable(Time),
  finishedAt: nullable(Time),
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
});

/** What a client sends to have a job done. */
export const NewJobItem = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 100 }),
    args: Type.Optional(
      Type.Unknown({ description: 'Checked against the schema of the job definition; {} by default' }),
    ),
    queue: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9][\\w.:-]{0,99}$' })),
    priority: Type.Optional(Type.Integer({ minimum: -32_768, maximum: 32_767 })),
    maxAttempts: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000 })),
    runAt: Type.Optional(Type.String({ format: 'date-time', description: 'Not before this time' })),
    tags: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
        maxItems: 20,
        description: 'Words to find it by',
      }),
    ),
  },
  { additionalProperties: false },
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

function toTime(date: Date | null): string | null {
  return date?.toISOString() ?? null;
}
