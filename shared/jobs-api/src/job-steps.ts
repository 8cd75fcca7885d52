import type { JobStorage } from '@longshore/jobs';
import { jobStepOperations, type OperableStorage } from '@longshore/jobs/operations';
import {
  bounds,
  type JobSignal,
  maxSignalled,
  signalOf,
  type Step,
  stepKinds,
  stepStates,
  unfinishedStates,
} from '@longshore/jobs/storage';
import {
  apiError,
  defineResource,
  pageOf,
  type Resource,
  type SetOperationDeclaration,
  type SetOperationFunction,
} from '@longshore/resources';
import Type, { type Static } from 'typebox';
import { nullable, text, Time, toTime } from './fields.js';
import { writtenByServers } from './job-children.js';
import { toJobFilter } from './job-filters.js';
import { JobErrorItem, toJobItem } from './job-item.js';
import { attempt, declarationOf } from './operations.js';

const SignalItem = Type.Object({
  id: text(bounds.keyLength, 'Identifies it among the signals of its name to this job'),
  data: Type.Unknown({ description: 'What it carries' }),
  at: Type.String({ format: 'date-time', description: 'When it arrived' }),
  sentBy: nullable(Type.String({ maxLength: 200, description: 'Who sent it; null if unknown' })),
});

const StepItem = Type.Object({
  name: text(bounds.keyLength, 'Identifies it among the steps of its job'),
  position: Type.Integer({
    minimum: 0,
    description: 'Rises in the order in which the steps of the job first started',
  }),
  kind: Type.Enum([...stepKinds], {
    description:
      'Work (`step`), a sleep, a wait for a signal (`wait`) or for another job (`job`), or the version of the code that the job passed with (`version`)',
  }),
  state: Type.Enum([...stepStates], {
    description:
      'How far it is: `waiting` for its time, for signals or for its next attempt; `done`; `failed`; or `timed-out` if what it waited for did not come',
  }),
  result: Type.Unknown({
    description: 'What the work returned, or the data of the signals; null unless it is done or timed out',
  }),
  error: nullable(
    Type.Object(JobErrorItem.properties, {
      description: 'Why its latest attempt failed; null if it did not',
    }),
  ),
  isRemembered: Type.Boolean({
    description:
      'Whether the error of a failed step is final: later attempts of the job get the error. Otherwise, they run the step again',
  }),
  attempts: Type.Integer({
    minimum: 0,
    description: 'How often its work has run, without runs that were cut off; 0 unless it is work',
  }),
  until: nullable(
    Type.String({
      format: 'date-time',
      description:
        'The end of a sleep, the end of a wait at the latest, or the time of the next attempt; null if it has none',
    }),
  ),
  awaited: nullable(
    Type.Integer({ minimum: 1, description: 'How many signals it waits for; null if it waits for none' }),
  ),
  signals: Type.Array(SignalItem, {
    description: 'The signals that the job has for it, in the order in which they arrived',
  }),
  childId: nullable(
    Type.String({ format: 'uuid', description: 'The job that it waits for; null if it waits for none' }),
  ),
  jobAttempt: Type.Integer({ minimum: 0, description: 'The attempt of the job that stored it' }),
  serverId: Type.String({ format: 'uuid', description: 'The server of that attempt' }),
  startedAt: Time,
  finishedAt: nullable(Time),
  durationMs: nullable(
    Type.Integer({
      minimum: 0,
      description: 'From its start to its end, in milliseconds; null while it waits',
    }),
  ),
});

/** `/jobs/{id}/steps`: the steps of a job, in the order in which they first started. */
export function stepsResource({ jobs, steps }: Pick<JobStorage, 'jobs' | 'steps'>): Resource {
  return defineResource({
    name: 'steps',
    description:
      'The steps of a job, in the order in which they first started, with the signals that they wait for.',
    key: 'name',
    item: StepItem,
    serverSet: Object.keys(StepItem.properties) as (keyof typeof StepItem.properties)[],
    defaultSort: ['position'],
    notAllowed: writtenByServers,
    storage: {
      seeks: true,
      list: async (query, { parents }) => {
        const job = await jobs.find(parents.at(-1)?.id ?? '');
        const history = job === null ? { steps: [], signals: [] } : await steps.read(job);
        return pageOf(
          history.steps.map((step) => toStepItem(step, history.signals)),
          query,
        );
      },
    },
  });
}

function toStepItem(step: Step, signals: readonly JobSignal[]): Static<typeof StepItem> {
  const signal = signalOf(step);
  const { startedAt, finishedAt } = step;
  return {
    name: step.name,
    position: step.position,
    kind: step.kind,
    state: step.state,
    result: step.result,
    error: step.error,
    isRemembered: step.isRemembered,
    attempts: step.attempts,
    until: toTime(step.until),
    awaited: step.signals,
    signals: signals
      .filter(({ name }) => name === signal)
      .map(({ id, data, at, sentBy }) => ({ id, data, at: at.toISOString(), sentBy })),
    childId: step.childId,
    jobAttempt: step.jobAttempt,
    serverId: step.serverId,
    startedAt: startedAt.toISOString(),
    finishedAt: toTime(finishedAt),
    durationMs: finishedAt === null ? null : Math.max(0, finishedAt.getTime() - startedAt.getTime()),
  };
}

const { body, ...ofOneJob } = declarationOf(jobStepOperations.signal, false);

/** `PUT /jobs/signal`: a signal to all jobs with a key. */
export const signalDeclaration: SetOperationDeclaration = {
  summary: 'Send a signal to the jobs with a key',
  note: `It goes to all jobs with this key that have not finished, the newest ${maxSignalled} at most. ${ofOneJob.note}`,
  selectedBy: 'correlate',
  body: Type.Object({
    correlate: text(bounds.keyLength, 'The key that the jobs were enqueued with'),
    ...body.properties,
  }),
};

export function signalFunction(storage: OperableStorage & Pick<JobStorage, 'jobs'>): SetOperationFunction {
  return async ({ filters }, given, context) => {
    const { correlate, reason, ...fields } = given as SignalBody;
    const filter = { ...toJobFilter({ filters, search: undefined }), state: unfinishedStates };
    const reached = [];
    let refused: string | undefined;
    for (const { id: target } of await storage.jobs.list({ filter, limit: maxSignalled })) {
      const call = { target, fields, reason, selected: { correlate } };
      const { facts, subject } = await attempt(jobStepOperations.signal, storage, context, call);
      if (subject === null) continue;
      if (facts.outcome !== 'illegal') reached.push(toJobItem(subject));
      else if (facts.state === undefined)
        refused ??= `The job ${subject.id} cannot be signalled: ${facts.why}`;
    }
    if (reached.length === 0 && refused !== undefined) throw apiError(40902, refused);
    if (reached.length === 0)
      throw apiError(
        40402,
        `No unfinished job has "correlate": "${correlate}". Enqueue the job with this key before the signal is sent, or send the signal to its id`,
      );
    return reached;
  };
}

interface SignalBody {
  readonly correlate: string;
  readonly name: string;
  readonly data?: unknown;
  readonly id?: string;
  readonly reason?: string;
}
