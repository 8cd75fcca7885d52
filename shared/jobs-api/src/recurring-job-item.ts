import type { RecurringJob, RecurringJobOptions } from '@longshore/jobs';
import { bounds } from '@longshore/jobs/storage';
import Type, { type Static } from 'typebox';
import type { EnqueueRequests } from './enqueue-requests.js';
import {
  integer,
  MaxAttempts,
  Name,
  nullable,
  pauseFields,
  Priority,
  RecurringJobId,
  Tag,
  Time,
  toPauseItem,
  toTime,
} from './fields.js';
import { ConcurrencyItem } from './job-item.js';

const described = {
  name: Type.String({ ...Name, description: 'The name of the jobs that it enqueues', examples: ['test'] }),
  args: Type.Unknown({
    description: 'The arguments of the jobs that it enqueues',
    examples: [{ waitMs: 10 }],
  }),
  cron: Type.String({
    minLength: 1,
    maxLength: 200,
    description:
      'Minute, hour, day, month and weekday; six fields that start with the second; or a nickname such as `@daily`',
    examples: ['30 2 * * *'],
  }),
};

const defaulted = {
  timeZone: Type.String({
    minLength: 1,
    maxLength: 100,
    // The shape of all names in the database; a name of this shape that is not in it is refused, too.
    pattern: String.raw`^([A-Za-z][\w+-]*(/[\w+-]+)*|[+-]\d\d(:?\d\d)?)$`,
    default: 'UTC',
    description: 'The time zone of the schedule, by its name in the IANA database; any other name is refused',
  }),
  misfire: Type.Enum(['skip', 'once', 'all'], {
    default: 'once',
    description: 'How many jobs it enqueues for due times that were missed: none, one, or one for each',
  }),
  misfireLimit: Type.Integer({
    minimum: 1,
    maximum: 1_000,
    default: 100,
    description: 'With `all`, the largest number of missed due times that get a job, latest first',
  }),
  overlap: Type.Enum(['allow', 'skip', 'wait'], {
    default: 'allow',
    description:
      'What happens at a due time while the previous job is unfinished: `allow` enqueues, `skip` does not, `wait` does once it has finished',
  }),
};

const Id = Type.String({
  ...RecurringJobId,
  description:
    'Unique among all recurring jobs. Of a caller that is limited to certain queues, it ends with `@` and one of these: `nightly@mail`',
  examples: ['nightly-report'],
});

export const RecurringJobItem = Type.Object({
  id: Id,
  ...described,
  queue: Type.String({ ...Name, description: 'The queue of the jobs that it enqueues' }),
  priority: Priority,
  maxAttempts: MaxAttempts,
  ...defaulted,
  maxBacklog: nullable(
    Type.Integer({
      minimum: 1,
      description:
        'It enqueues nothing while its queue has a backlog of this many jobs, ready or blocked; null if that makes no difference',
    }),
  ),
  tags: Type.Array(Tag, {
    maxItems: bounds.tags.max,
    description: 'The labels of the jobs that it enqueues',
  }),
  concurrency: nullable(ConcurrencyItem),
  application: nullable(
    Type.String({
      description: 'The application whose code defines it; null if it was created over the API',
    }),
  ),
  ...pauseFields,
  nextDueAt: nullable(
    Type.String({
      format: 'date-time',
      description: 'The next due time; null while it is paused, and if its schedule matches no further time',
    }),
  ),
  lastDueAt: nullable(
    Type.String({ format: 'date-time', description: 'The latest due time that got a job' }),
  ),
  lastJobId: nullable(
    Type.String({ format: 'uuid', description: 'The job that was enqueued for `lastDueAt`' }),
  ),
  createdAt: Time,
  updatedAt: Time,
});

/** A request body that creates a recurring job. */
export const NewRecurringJobItem = Type.Object({
  id: Id,
  ...described,
  args: Type.Optional(described.args),
  queue: Type.Optional(
    Type.String({
      ...Name,
      description: 'The queue of the jobs that it enqueues; by default, as in the job definition',
    }),
  ),
  priority: Type.Optional(
    integer(bounds.priority, 'Within a queue, lower numbers run first; by default, as in the job definition'),
  ),
  maxAttempts: Type.Optional(
    integer(
      bounds.maxAttempts,
      'How many attempts a job gets before it fails for good; by default, as in the job definition',
    ),
  ),
  timeZone: Type.Optional(defaulted.timeZone),
  misfire: Type.Optional(defaulted.misfire),
  misfireLimit: Type.Optional(defaulted.misfireLimit),
  overlap: Type.Optional(defaulted.overlap),
});

/**
 * Converts a request body to the options of a recurring job.
 * @throws {ApiError} 42202 if the application does not define the job, and unknown jobs are not accepted
 */
export function toRecurringJobOptions(
  requests: EnqueueRequests,
  { name, args = {}, ...rest }: Static<typeof NewRecurringJobItem>,
): RecurringJobOptions {
  return { ...rest, definition: requests.definitionOf(name), args };
}

export function toRecurringJobItem(job: RecurringJob): Static<typeof RecurringJobItem> {
  return {
    ...job,
    ...toPauseItem(job),
    tags: [...job.tags],
    nextDueAt: toTime(job.nextDueAt),
    lastDueAt: toTime(job.lastDueAt),
    createdAt: job.createdAt.toISOString(),
    updatedAt: job.updatedAt.toISOString(),
  };
}
