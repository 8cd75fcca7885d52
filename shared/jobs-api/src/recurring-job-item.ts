import type { RecurringJob, RecurringJobOptions } from '@longshore/jobs';
import { bounds, intervalPattern, type Uniqueness } from '@longshore/jobs/storage';
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
import { NewConcurrency, RecurringUniqueness } from './key-items.js';

const described = {
  name: Type.String({ ...Name, description: 'The name of the jobs that it enqueues', examples: ['test'] }),
  args: Type.Unknown({
    description: 'The arguments of the jobs that it enqueues',
    examples: [{ waitMs: 10 }],
  }),
};

const schedule = {
  cron: nullable(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description:
        'Minute, hour, day, month and weekday; six fields that start with the second; or a nickname such as `@daily`. Null if it has `every`',
    }),
    { default: null, examples: ['30 2 * * *'] },
  ),
  every: nullable(
    Type.String({
      minLength: 2,
      maxLength: 60,
      pattern: intervalPattern,
      description:
        'The time between two due times, from 1 s to 366 d, with the units w, d, h, min and s: `90 s`, `1 h 30 min`. Null if it has `cron`',
    }),
    { default: null },
  ),
  anchor: nullable(
    Type.String({
      format: 'date-time',
      description:
        'With `every`: a due time, in whole seconds; the others are multiples of the interval before and after it. 1970-01-01T00:00:00Z by default; null with `cron`',
    }),
    { default: null },
  ),
};

const defaulted = {
  timeZone: Type.String({
    minLength: 1,
    maxLength: 100,
    // The shape of all names in the database; a name of this shape that is not in it is refused, too.
    pattern: String.raw`^([A-Za-z][\w+-]*(/[\w+-]+)*|[+-]\d\d(:?\d\d)?)$`,
    default: 'UTC',
    description:
      'The time zone of `cron`, by its name in the IANA database; any other name is refused. UTC with `every`, which no clock affects',
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

const ofRuns = {
  timeoutMs: nullable(
    integer(
      bounds.timeoutMs,
      'Time limit of one attempt, in milliseconds; null if that of the job definition applies',
    ),
    { default: null },
  ),
  maxBacklog: nullable(
    integer(
      { min: 1, max: 2_147_483_647 },
      'It enqueues nothing while its queue has a backlog of this many jobs, ready or blocked; null if that makes no difference. At most what the API accepts, which is then the default',
    ),
    { default: null },
  ),
  tags: Type.Array(Tag, {
    maxItems: bounds.tags.max,
    default: [],
    description: 'The labels of the jobs that it enqueues',
  }),
  concurrency: nullable(NewConcurrency, { default: null }),
  unique: nullable(RecurringUniqueness, { default: null }),
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
  version: integer(bounds.version, 'The version of the job definition for which its arguments were written'),
  queue: Type.String({ ...Name, description: 'The queue of the jobs that it enqueues' }),
  priority: Priority,
  maxAttempts: MaxAttempts,
  ...schedule,
  ...defaulted,
  ...ofRuns,
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

const byDefinition = 'By default, as in the job definition; null if the jobs have none';

/** A request body that creates a recurring job. */
export const NewRecurringJobItem = Type.Object({
  id: Id,
  ...described,
  args: Type.Optional(described.args),
  version: Type.Optional(
    integer(
      bounds.version,
      'The version of the job definition for which the arguments were written; by default that of the definition, or 1 if the API does not have it',
    ),
  ),
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
  cron: Type.Optional(schedule.cron),
  timeZone: Type.Optional(defaulted.timeZone),
  every: Type.Optional(schedule.every),
  anchor: Type.Optional(schedule.anchor),
  misfire: Type.Optional(defaulted.misfire),
  misfireLimit: Type.Optional(defaulted.misfireLimit),
  overlap: Type.Optional(defaulted.overlap),
  timeoutMs: Type.Optional(ofRuns.timeoutMs),
  maxBacklog: Type.Optional(ofRuns.maxBacklog),
  tags: Type.Optional(ofRuns.tags),
  concurrency: Type.Optional(nullable(NewConcurrency, { description: byDefinition })),
  unique: Type.Optional(nullable(RecurringUniqueness, { description: byDefinition })),
});

/** The fields of a request body that creates or replaces a recurring job. Optional fields are absent for their defaults. */
export type RecurringJobBody = Static<typeof NewRecurringJobItem>;

/**
 * Converts a request body to the options of a recurring job. `defineRecurringJob` checks its schedule.
 * @throws {ApiError} 42202 if the application does not define the job, and unknown jobs are not accepted
 */
export function toRecurringJobOptions(
  requests: EnqueueRequests,
  body: RecurringJobBody,
): RecurringJobOptions {
  const {
    name,
    args = {},
    cron = null,
    timeZone = 'UTC',
    every = null,
    anchor = null,
    unique,
    version,
    ...rest
  } = body;
  return {
    ...rest,
    ...requests.versionOf({ name, ...(version !== undefined && { version }) }),
    definition: requests.definitionOf(name),
    args,
    cron,
    timeZone,
    every,
    anchor: anchor === null ? null : new Date(anchor),
    ...(unique !== undefined && { unique: unique === null ? null : givenUniqueness(unique) }),
  };
}

/** Returns the options of a unique key in a request body, where null stands for no time limit. */
function givenUniqueness({ periodMs = null, ...options }: Static<typeof RecurringUniqueness>): Uniqueness {
  return { ...options, ...(periodMs !== null && { periodMs }) };
}

export function toRecurringJobItem(job: RecurringJob): Static<typeof RecurringJobItem> {
  return {
    ...job,
    ...toPauseItem(job),
    anchor: toTime(job.anchor),
    tags: [...job.tags],
    unique: job.unique === null ? null : { ...job.unique, states: [...job.unique.states] },
    nextDueAt: toTime(job.nextDueAt),
    lastDueAt: toTime(job.lastDueAt),
    createdAt: job.createdAt.toISOString(),
    updatedAt: job.updatedAt.toISOString(),
  };
}
