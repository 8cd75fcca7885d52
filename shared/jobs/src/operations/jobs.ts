import Type, { type TObject, type TProperties } from 'typebox';
import { namePattern } from '../job/bounds.js';
import { storable } from '../job/storable.js';
import type { Job } from '../job/job.js';
import type { BulkOperation, BulkPreview } from '../storage/bulk-operations.js';
import {
  type BulkAction,
  type ControlResult,
  statesOfAction,
  unchangedByAction,
} from '../storage/job-control.js';
import type { JobFilter } from '../storage/job-filter.js';
import { Args, jobEdit, Priority } from './job-edits.js';
import { noFields, type Operation, operation } from './operation.js';
import type { Facts, LegalStates, OperationDescription } from './operation-description.js';

const Dependents = Type.Boolean({
  description:
    'Whether to restore the jobs that were skipped because this one, or its batch, did not end as required, directly or through other skipped jobs: they wait again. `false` by default',
});

const RetryFields = Type.Object(
  {
    dependents: Type.Optional(Dependents),
    ignoreDependencies: Type.Optional(
      Type.Boolean({
        description:
          'Whether to make the job ready even if it was cancelled while it waited for other jobs. By default it waits for them again',
      }),
    ),
    toQueue: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100,
        pattern: namePattern,
        description: 'The queue to which it moves',
      }),
    ),
    priority: Priority,
    args: Args,
  },
  { additionalProperties: false },
);

const RescheduleFields = Type.Object(
  { runAt: Type.String({ format: 'date-time', description: 'When it becomes ready' }) },
  { additionalProperties: false },
);

const RenameFields = Type.Object(
  {
    toName: Type.String({
      minLength: 1,
      maxLength: 100,
      pattern: namePattern,
      description: 'The name of the job definition that is to run it',
    }),
  },
  { additionalProperties: false },
);

const DelayFields = Type.Object(
  {
    delayMs: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 86_400_000,
        description:
          'Milliseconds to wait before any job is changed; until then, stopping the operation undoes it. 0 by default',
      }),
    ),
  },
  { additionalProperties: false },
);

const descriptions = {
  cancel: {
    on: 'jobs',
    name: 'cancel',
    summary: 'Cancel a job',
    note: 'The signal of a running job is aborted within a second; the job is cancelled once its handler throws, and done if its handler returns anyway. Until then, `cancelRequestedAt` is set.',
    done: 'cancelled',
    pending: 'The handler of the running job has been asked to stop',
    message: 'The job is cancelled. If it is running, its handler has been asked to stop.',
    role: 'operator',
    isFrequent: true,
    states: { from: statesOfAction.cancel, to: ['cancelled'] },
  },
  retry: {
    on: 'jobs',
    name: 'retry',
    summary: 'Retry a failed or cancelled job',
    note: 'Allows one more attempt if none is left. A job that was cancelled while it waited for other jobs waits for them again, in the state `awaiting`, unless `ignoreDependencies` is true.',
    done: 'retried',
    message: 'The job will run again.',
    role: 'operator',
    isFrequent: true,
    states: { from: statesOfAction.retry, to: ['enqueued'], unchanged: unchangedByAction.retry },
  },
  run: {
    on: 'jobs',
    name: 'run',
    summary: 'Run a scheduled or awaiting job now',
    note: 'An awaiting job no longer waits for other jobs.',
    done: 'started',
    message: 'The job is ready to run.',
    role: 'operator',
    isFrequent: true,
    states: { from: statesOfAction.run, to: ['enqueued'], unchanged: unchangedByAction.run },
  },
  reschedule: {
    on: 'jobs',
    name: 'reschedule',
    summary: 'Change when a scheduled job becomes ready',
    note: 'A time in the past makes it ready at once.',
    done: 'rescheduled',
    message: 'The job is rescheduled.',
    role: 'operator',
    isFrequent: true,
    states: { from: statesOfAction.reschedule, to: ['scheduled'], unchanged: unchangedByAction.reschedule },
  },
  rename: {
    on: 'jobs',
    name: 'rename',
    summary: 'Move a job that has not started to another job type',
    note: 'Servers run it with the handler for the new name, which checks its arguments. Unique keys remain those of the old name.',
    done: 'renamed',
    message: 'The job has been moved to the other job type.',
    role: 'operator',
    states: { from: statesOfAction.rename, to: statesOfAction.rename, unchanged: unchangedByAction.rename },
  },
  delete: {
    on: 'jobs',
    name: 'delete',
    summary: 'Delete a finished job',
    done: 'deleted',
    role: 'admin',
    isReasoned: true,
    isFrequent: true,
    states: { from: statesOfAction.delete, to: ['deleted'] },
  },
} as const satisfies Record<
  BulkAction,
  Omit<OperationDescription, 'fields'> & { readonly states?: LegalStates }
>;

/** The operations on one job. */
export const jobOperations = {
  cancel: operation<typeof noFields, Job, ControlResult>({
    ...descriptions.cancel,
    fields: noFields,
    change: ({ control }, { target }, options) => control.cancel(target, options),
    facts: factsOf,
    after: jobAfter,
    isPending: ({ finishedAt }) => finishedAt === null,
  }),
  retry: operation<typeof RetryFields, Job, ControlResult>({
    ...descriptions.retry,
    note: `If a queue, a priority or arguments are given, the job gets these first. ${descriptions.retry.note}`,
    fields: RetryFields,
    change: ({ control }, { target, fields }, options) => {
      const { toQueue: queue, priority, args, ...rest } = fields;
      const content = {
        ...(queue !== undefined && { queue }),
        ...(priority !== undefined && { priority }),
        ...(args !== undefined && { args: JSON.stringify(args) }),
      };
      const isEdited = Object.keys(content).length > 0;
      return control.retry(target, { ...options, ...rest, ...(isEdited && { content }) });
    },
    facts: (result, { fields }) => {
      const facts = factsOf(result);
      if (facts.outcome !== 'done' || result.outcome !== 'ok') return facts;
      const { queue, priority } = result.job;
      const before = {
        ...(fields.toQueue !== undefined && fields.toQueue !== queue && { queue }),
        ...(fields.priority !== undefined && fields.priority !== priority && { priority }),
      };
      return {
        ...facts,
        ...(Object.keys(before).length > 0 && { before }),
        ...(fields.dependents === true && { count: { count: 1 + result.restored, exact: true } }),
      };
    },
    after: jobAfter,
  }),
  run: operation<typeof noFields, Job, ControlResult>({
    ...descriptions.run,
    fields: noFields,
    change: ({ control }, { target }, options) => control.run(target, options),
    facts: factsOf,
    after: jobAfter,
  }),
  reschedule: operation<typeof RescheduleFields, Job, ControlResult>({
    ...descriptions.reschedule,
    fields: RescheduleFields,
    change: ({ control }, { target, fields }, options) =>
      control.reschedule(target, new Date(fields.runAt), options),
    facts: (result) => {
      const facts = factsOf(result);
      if (facts.outcome !== 'done' || result.outcome === 'unknown') return facts;
      return { ...facts, before: { runAt: result.job.runAt?.toISOString() ?? null } };
    },
    after: jobAfter,
  }),
  edit: jobEdit,
  rename: operation<typeof RenameFields, Job, ControlResult>({
    ...descriptions.rename,
    fields: RenameFields,
    change: ({ control }, { target, fields }, options) => control.rename(target, fields.toName, options),
    facts: (result) => {
      const facts = factsOf(result);
      if (facts.outcome !== 'done' || result.outcome === 'unknown') return facts;
      return { ...facts, before: { name: result.job.name } };
    },
    after: jobAfter,
  }),
  delete: operation<typeof noFields, Job, ControlResult>({
    ...descriptions.delete,
    fields: noFields,
    change: ({ control }, { target }, options) => control.delete(target, options),
    facts: factsOf,
    after: jobAfter,
  }),
};

function factsOf(result: ControlResult): Facts {
  if (result.outcome === 'unknown') return result;
  const { state } = result.job;
  if (result.outcome === 'illegal') return { outcome: 'illegal', why: `it is ${state}`, state };
  return { outcome: result.changed ? 'done' : 'unchanged' };
}

function jobAfter(_storage: unknown, _call: unknown, result: ControlResult): Job | null {
  return result.outcome === 'unknown' ? null : result.job;
}

/** The jobs that an operation on many jobs changes. */
export interface JobSelection {
  /** At least one condition; at most 1000 ids. */
  readonly filter: JobFilter;
  /** What the caller confirmed; without it, all jobs that match when the operation is stored. */
  readonly confirmed?: BulkPreview;
}

/**
 * The operations on many jobs. Each is stored as a bulk operation, which servers carry out in the background; its jobs
 * are those of the selection whose state is legal.
 */
export const jobSetOperations = {
  cancel: onMany('cancel', DelayFields),
  retry: onMany('retry', withDelay({ dependents: Type.Optional(Dependents) })),
  run: onMany('run', DelayFields),
  reschedule: onMany('reschedule', withDelay(RescheduleFields.properties)),
  rename: onMany('rename', withDelay(RenameFields.properties)),
  delete: onMany('delete', DelayFields),
} satisfies Record<BulkAction, unknown>;

function withDelay<Properties extends TProperties>(
  properties: Properties,
): TObject<Properties & typeof DelayFields.properties> {
  return Type.Object({ ...properties, ...DelayFields.properties }, { additionalProperties: false });
}

function onMany<Fields extends TObject>(
  action: BulkAction,
  fields: Fields,
): Operation<Fields, BulkOperation, JobSelection> {
  const {
    isFrequent: _,
    message: __,
    pending: ___,
    ...description
  }: Omit<OperationDescription, 'fields'> = descriptions[action];
  return operation<Fields, BulkOperation, BulkOperation, JobSelection>({
    ...description,
    on: 'bulk',
    noun: 'selection of jobs',
    fields,
    change: ({ bulk }, { target, fields: values, by }, options) => {
      const { visibleQueues, reason } = options;
      const { runAt, ...rest } = values as SetValues;
      const time = runAt === undefined ? {} : { runAt: new Date(runAt) };
      const requestedBy = storable(by.name, 200);
      return bulk.start({ ...target, action, ...rest, ...time, visibleQueues, reason, requestedBy }, options);
    },
    facts: ({ id, matched }) =>
      matched?.count === 0
        ? { outcome: 'illegal', why: 'none of its jobs exists in a state that allows this' }
        : { outcome: 'done', count: matched, target: id },
    after: (_storage, _call, started: BulkOperation) => started,
  });
}

/** The fields that operations on many jobs have. */
interface SetValues {
  readonly dependents?: boolean;
  readonly runAt?: string;
  readonly toName?: string;
  readonly delayMs?: number;
}
