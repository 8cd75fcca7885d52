import { isDeepStrictEqual } from 'node:util';
import Type, { type Static } from 'typebox';
import { bounds } from '../job/bounds.js';
import type { Job, JsonValue } from '../job/job.js';
import {
  type DecideEdits,
  editableStates,
  type EditResult,
  type JobContent,
} from '../storage/job-content.js';
import { operation } from './operation.js';
import type { Facts } from './operation-description.js';

const EditFields = Type.Object(
  {
    queue: Type.Optional(Type.String({ description: 'The queue to which it moves' })),
    priority: Type.Optional(
      Type.Integer({
        minimum: bounds.priority.min,
        maximum: bounds.priority.max,
        description: 'Within a queue, lower numbers run first',
      }),
    ),
    maxAttempts: Type.Optional(
      Type.Integer({
        minimum: bounds.maxAttempts.min,
        maximum: bounds.maxAttempts.max,
        description: 'How many attempts it gets in all; more than it has had',
      }),
    ),
    tags: Type.Optional(
      Type.Array(Type.String(), { description: 'Its labels, instead of those that it has' }),
    ),
    runAt: Type.Optional(Type.String({ format: 'date-time', description: 'When it becomes ready' })),
    args: Type.Optional(Type.Unknown({ description: 'Its arguments' })),
  },
  { additionalProperties: false },
);

export const { priority: Priority, args: Args } = EditFields.properties;

/** The new values of a job; those that are absent stay as they are. */
export type EditedValues = Static<typeof EditFields>;

/** Jobs to edit together: all or none. */
export interface JobEdits {
  readonly ids: readonly string[];
  /** May leave out jobs whose state does not allow the edit; if it leaves out all, nothing is changed. */
  readonly decide: DecideEdits;
}

/** An edit of several jobs records the values of at most this many. */
const maxRecorded = 20;

/** The edit of jobs that wait to run. */
export const jobEdit = operation<typeof EditFields, Job, EditResult, JobEdits, readonly Job[]>({
  on: 'jobs',
  name: 'edit',
  summary: 'Change a job that has not started',
  done: 'edited',
  message: 'The job has been changed.',
  role: 'operator',
  states: { from: ['scheduled', 'awaiting', 'enqueued'], to: ['scheduled', 'awaiting', 'enqueued'] },
  fields: EditFields,
  change: async ({ control }, { target, check }, options) => {
    let before: EditResult['before'] = new Map();
    const jobs = await control.edit(
      target.ids,
      async (current) => {
        before = current;
        for (const job of current.values()) check?.(job);
        return target.decide(current);
      },
      options,
    );
    return { before, jobs };
  },
  facts: ({ before, jobs }, { target: { ids } }): Facts => {
    const target = ids.length === 1 ? { target: ids[0] ?? '' } : {};
    const [job] = before.values();
    if (job === undefined) return { outcome: 'unknown', ...target };
    const [first] = jobs;
    if (first === undefined)
      return { outcome: 'illegal', why: `it is ${job.state}`, state: job.state, ...target };
    const count = { count: jobs.length, exact: true };
    if (ids.length === 1) return { outcome: 'done', count, ...target, before: valuesOf(job, first) };
    const recorded = jobs
      .slice(0, maxRecorded)
      .map((editedJob) => [editedJob.id, valuesOf(before.get(editedJob.id), editedJob)]);
    return { outcome: 'done', count, before: Object.fromEntries(recorded) as JsonValue };
  },
  after: (_storage, _call, { jobs }) => jobs,
});

/** Returns the edit of one job. It is refused if the job's state does not allow it. */
export function editOfOne(id: string, values: EditedValues): JobEdits {
  return {
    ids: [id],
    decide: async (current) => {
      const [job] = current.values();
      const isEditable = job !== undefined && editableStates.includes(job.state);
      return new Map(isEditable ? [[job.id, contentOf(job, values)]] : []);
    },
  };
}

function contentOf(job: Job, { runAt, args, ...values }: EditedValues): JobContent {
  return {
    queue: job.queue,
    priority: job.priority,
    args: JSON.stringify(args === undefined ? job.args : args),
    runAt: runAt === undefined ? job.runAt : new Date(runAt),
    ...values,
  };
}

/**
 * Returns the previous values of what an edit has changed. Arguments are left out, because the audit log is kept for longer
 * than jobs are, and arguments may be large and may contain secrets.
 */
function valuesOf(before: Job | undefined, after: Job): JsonValue {
  if (before === undefined) return null;
  const [old, edited] = [recordedOf(before), recordedOf(after)];
  return Object.fromEntries(
    Object.entries(old).filter(([name, value]) => !isDeepStrictEqual(value, edited[name])),
  );
}

function recordedOf(job: Job): Readonly<Record<string, JsonValue>> {
  const { queue, priority, maxAttempts, tags } = job;
  return { queue, priority, maxAttempts, tags, runAt: job.runAt?.toISOString() ?? null };
}
