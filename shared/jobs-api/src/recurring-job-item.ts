import type { RecurringJob, RecurringJobOptions } from '@longshore/jobs';
import Type, { type Static } from 'typebox';
import { MaxAttempts, Name, nullable, Priority, Time, toTime } from './fields.js';
import type { EnqueueRequests } from './enqueue-requests.js';

const described = {
  name: Type.String({ ...Name, description: 'Of the jobs that it enqueues', examples: ['test'] }),
  args: Type.Unknown({ description: 'Of the jobs that it enqueues', examples: [{ waitMs: 10 }] }),
  cron: Type.String({
    minLength: 1,
    maxLength: 200,
    description: 'Minute, hour, day, month, weekday; or six fields with the seconds first',
    examples: ['30 2 * * *'],
  }),
};

const defaulted = {
  timeZone: Type.String({ maxLength: 100, default: 'UTC', description: 'Of the IANA database' }),
  misfire: Type.Enum(['skip', 'once', 'all'], {
    default: 'once',
    description: 'How many jobs the due times get that nobody was there to meet',
  }),
  misfireLimit: Type.Integer({
    minimum: 1,
    maximum: 1_000,
    default: 100,
    description: 'With misfire `all`: the latest so many of them',
  }),
  overlap: Type.Enum(['allow', 'skip', 'wait'], {
    default: 'allow',
    description: 'What a due time does while the job before is unfinished',
  }),
};

export const RecurringJobItem = Type.Object({
  id: Type.String({ ...Name, description: 'Unique among all recurring jobs', examples: ['nightly-report'] }),
  ...described,
  queue: Name,
  priority: Priority,
  maxAttempts: MaxAttempts,
  ...defaulted,
  application: nullable(
    Type.String({ description: 'The application whose code defines it; null if an operator added it' }),
  ),
  pausedAt: nullable(Time),
  nextDueAt: nullable(Time),
  lastDueAt: nullable(Time),
  lastJobId: nullable(Type.String({ format: 'uuid' })),
  createdAt: Time,
  updatedAt: Time,
});

/** What a client sends to have jobs done again and again. */
export const NewRecurringJobItem = Type.Object({
  id: Type.String({ ...Name, examples: ['nightly-report'] }),
  ...described,
  args: Type.Optional(described.args),
  queue: Type.Optional(Name),
  priority: Type.Optional(Priority),
  maxAttempts: Type.Optional(MaxAttempts),
  ...defaulted,
});

/** @throws {ApiError} 42202 if there is no such job */
export function toRecurringJobOptions(
  requests: EnqueueRequests,
  { name, args = {}, ...rest }: Static<typeof NewRecurringJobItem>,
): RecurringJobOptions<unknown> {
  return { ...rest, definition: requests.definitionOf(name), args };
}

export function toRecurringJobItem(job: RecurringJob): Static<typeof RecurringJobItem> {
  return {
    ...job,
    pausedAt: toTime(job.pausedAt),
    nextDueAt: toTime(job.nextDueAt),
    lastDueAt: toTime(job.lastDueAt),
    createdAt: job.createdAt.toISOString(),
    updatedAt: job.updatedAt.toISOString(),
  };
}
