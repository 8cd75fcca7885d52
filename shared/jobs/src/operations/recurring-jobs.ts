import { isDeepStrictEqual } from 'node:util';
import Type, { type Static, type TSchema } from 'typebox';
import type { JsonValue } from '../job/job.js';
import type { NewRecurringJob, RecurringJob } from '../recurring/recurring-job.js';
import type { DecideRecurringJobs, RecurringJobsUpdate, TriggeredJob } from '../storage/recurring-jobs.js';
import { noFields, operation } from './operation.js';
import type { Facts } from './operation-description.js';
import {
  factsOfPause,
  factsOfResumption,
  type PauseFields,
  pauseOptionsOf,
  pausing,
  resuming,
} from './pauses.js';

/** Returns the schema of an optional field that can be null. */
function orNull<Schema extends TSchema>(
  schema: Schema,
  description: string,
): Type.TOptional<Type.TUnion<[Schema, Type.TNull]>> {
  return Type.Optional(Type.Union([schema, Type.Null()], { description }));
}

const ScheduleFields = Type.Object(
  {
    name: Type.Optional(Type.String({ description: 'The name of the jobs that it enqueues' })),
    args: Type.Optional(Type.Unknown({ description: 'Their arguments' })),
    queue: Type.Optional(Type.String({ description: 'Their queue' })),
    priority: Type.Optional(Type.Integer({ description: 'Their priority' })),
    maxAttempts: Type.Optional(Type.Integer({ description: 'How many attempts each of them gets' })),
    timeoutMs: orNull(Type.Integer(), 'The time limit of one attempt, in milliseconds'),
    cron: orNull(Type.String(), 'When it is due: a cron expression'),
    timeZone: Type.Optional(Type.String({ description: 'The time zone of `cron`' })),
    every: orNull(Type.String(), 'Instead of `cron`: an interval, such as `90 s`'),
    anchor: orNull(Type.String(), 'A time at which the interval is due'),
    misfire: Type.Optional(Type.String({ description: 'What happens to due times that were missed' })),
    misfireLimit: orNull(Type.Integer(), 'How many missed due times get a job'),
    overlap: Type.Optional(Type.String({ description: 'What happens while its previous job is unfinished' })),
    maxBacklog: orNull(Type.Integer(), 'The backlog of the queue at which it enqueues nothing'),
    tags: Type.Optional(Type.Array(Type.String(), { description: 'The labels of the jobs' })),
    concurrency: orNull(Type.Object({}), 'Their concurrency key and its limit'),
    unique: orNull(Type.Object({}), 'Their unique key, with its options'),
  },
  { additionalProperties: false },
);

/** The values of a recurring job that were set; without its arguments. */
export type EditedSchedule = Omit<Static<typeof ScheduleFields>, 'args'>;

/**
 * Returns what the audit log records of a recurring job. Arguments are left out, because they may be large and may contain
 * secrets.
 */
export function scheduleOf(job: RecurringJob | NewRecurringJob): EditedSchedule {
  return {
    name: job.name,
    queue: job.queue,
    priority: job.priority,
    maxAttempts: job.maxAttempts,
    timeoutMs: job.timeoutMs,
    cron: job.cron,
    timeZone: job.timeZone,
    every: job.every,
    anchor: job.anchor?.toISOString() ?? null,
    misfire: job.misfire,
    misfireLimit: job.misfireLimit,
    overlap: job.overlap,
    maxBacklog: job.maxBacklog,
    tags: [...job.tags],
    concurrency: job.concurrency,
    unique: job.unique,
  };
}

/** Recurring jobs to edit together: all or none. */
export interface RecurringJobEdits {
  readonly ids: readonly string[];
  readonly decide: DecideRecurringJobs;
}

/** An edit of several recurring jobs records the values of at most this many. */
const maxRecorded = 20;

/** Returns the previous values of what an edit has changed. */
function changedValues(before: RecurringJob | undefined, after: RecurringJob): JsonValue {
  if (before === undefined) return null;
  const edited: Readonly<Record<string, unknown>> = scheduleOf(after);
  const kept = Object.entries(scheduleOf(before)).filter(
    ([name, value]) => !isDeepStrictEqual(value, edited[name]),
  );
  return Object.fromEntries(kept) as JsonValue;
}

/** The operations on a recurring job. */
export const recurringJobOperations = {
  create: operation<typeof ScheduleFields, RecurringJob, RecurringJob | null, NewRecurringJob>({
    on: 'recurring',
    name: 'create',
    summary: 'Create a recurring job',
    done: 'created',
    message: 'The recurring job is created.',
    role: 'operator',
    fields: ScheduleFields,
    change: ({ recurring }, { target }, options) => recurring.add(target, options),
    facts: (added, { target: { id: target } }): Facts =>
      added === null
        ? { outcome: 'illegal', why: 'there is already one with this id', target }
        : { outcome: 'done', target },
    after: (_storage, _call, added: RecurringJob | null) => added,
  }),
  edit: operation<
    typeof ScheduleFields,
    RecurringJob,
    RecurringJobsUpdate,
    RecurringJobEdits,
    readonly RecurringJob[]
  >({
    on: 'recurring',
    name: 'edit',
    summary: 'Change a recurring job',
    note: 'One that is defined in code cannot be changed.',
    done: 'changed',
    message: 'The recurring job has been changed.',
    role: 'operator',
    fields: ScheduleFields,
    change: async ({ recurring }, { target }, options) => {
      let before: RecurringJobsUpdate['before'] = new Map();
      const jobs = await recurring.updateAll(
        target.ids,
        (current) => {
          before = current;
          return target.decide(current);
        },
        options,
      );
      return { before, jobs };
    },
    facts: ({ before, jobs }, { target: { ids } }): Facts => {
      const target = ids.length === 1 ? { target: ids[0] ?? '' } : {};
      const [first] = jobs;
      if (first === undefined) return { outcome: 'unknown', ...target };
      const count = { count: jobs.length, exact: true };
      if (ids.length === 1)
        return { outcome: 'done', count, ...target, before: changedValues(before.get(first.id), first) };
      const recorded = jobs
        .slice(0, maxRecorded)
        .map((job) => [job.id, changedValues(before.get(job.id), job)] as const);
      return { outcome: 'done', count, before: Object.fromEntries(recorded) };
    },
    after: (_storage, _call, { jobs }) => jobs,
  }),
  trigger: operation<typeof noFields, RecurringJob, TriggeredJob | null, string, TriggeredJob>({
    on: 'recurring',
    name: 'trigger',
    summary: 'Enqueue a job now, in addition to the schedule',
    note: 'Also possible while it is paused, and while its previous job is unfinished.',
    done: 'started',
    message: 'The recurring job has enqueued this job.',
    role: 'operator',
    fields: noFields,
    change: ({ recurring }, { target }, options) => recurring.trigger(target, options),
    facts: factsOfTrigger,
    after: (_storage, _call, triggered: TriggeredJob | null) => triggered,
  }),
  pause: operation<typeof PauseFields, RecurringJob, RecurringJob | null>({
    ...pausing,
    on: 'recurring',
    summary: 'Pause a recurring job',
    message: 'The recurring job is paused.',
    change: ({ recurring }, call, options) =>
      recurring.pause(call.target, { ...options, ...pauseOptionsOf(call) }),
    facts: (before, call) => (before === null ? { outcome: 'unknown' } : factsOfPause(before, call)),
    after: same,
  }),
  resume: operation<typeof noFields, RecurringJob, RecurringJob | null>({
    ...resuming,
    on: 'recurring',
    summary: 'Resume a recurring job at its next due time',
    message: 'The recurring job is resumed.',
    fields: noFields,
    change: ({ recurring }, { target }, options) => recurring.resume(target, options),
    facts: (before) => (before === null ? { outcome: 'unknown' } : factsOfResumption(before)),
    after: same,
  }),
  delete: operation<typeof noFields, RecurringJob, boolean>({
    on: 'recurring',
    name: 'delete',
    summary: 'Delete a recurring job',
    note: 'The jobs that it has enqueued are kept. One that is defined in code is added again when its application starts.',
    done: 'deleted',
    message: 'The recurring job is deleted.',
    role: 'admin',
    isReasoned: true,
    fields: noFields,
    change: ({ recurring }, { target }, options) => recurring.remove(target, options),
    facts: (existed) => ({ outcome: existed ? 'done' : 'unknown' }),
    after: () => null,
  }),
};

/** If another job holds the unique key, nothing was done, unless that job was given the content of the new one. */
function factsOfTrigger(triggered: TriggeredJob | null): Facts {
  if (triggered === null) return { outcome: 'unknown' };
  const { id, created, recurringJob } = triggered;
  if (created || recurringJob.unique?.onConflict === 'replace') return { outcome: 'done' };
  return { outcome: 'illegal', why: `the job ${id} holds its unique key` };
}

function same(_storage: unknown, _call: unknown, result: RecurringJob | null): RecurringJob | null {
  return result;
}
