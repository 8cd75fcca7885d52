import Type from 'typebox';
import { bounds } from '../job/bounds.js';
import type { Job, JsonValue } from '../job/job.js';
import { unfinishedStates } from '../job/state.js';
import { rerunStates, type RerunResult, type SignalResult, tooManySignals } from '../storage/steps.js';
import { operation } from './operation.js';

const { min: minLength, max: maxLength } = bounds.keyLength;

const SignalFields = Type.Object(
  {
    name: Type.String({ minLength, maxLength, description: 'The name that the handler waits for' }),
    data: Type.Optional(
      Type.Unknown({ description: 'What the handler receives, at most 1 MiB. `null` by default' }),
    ),
    id: Type.Optional(
      Type.String({
        minLength,
        maxLength,
        description:
          'Identifies the signal, so that it can be sent again safely: a job receives a name and id once. A new one by default',
      }),
    ),
  },
  { additionalProperties: false },
);

const RerunFields = Type.Object(
  {
    step: Type.String({
      minLength,
      maxLength,
      description: 'The name of the first step to drop; those that started later are dropped, too',
    }),
  },
  { additionalProperties: false },
);

/** The operations on one job that concern its steps. */
export const jobStepOperations = {
  signal: operation<typeof SignalFields, Job, SignalResult>({
    on: 'jobs',
    name: 'signal',
    summary: 'Send a signal to a job',
    note: 'It is kept until the handler of the job waits for a signal with its name. The first signal of a name counts, unless the handler waits for several.',
    done: 'signalled',
    message: 'The signal has been sent.',
    role: 'operator',
    isFrequent: true,
    states: { from: unfinishedStates, to: unfinishedStates, unchanged: [] },
    fields: SignalFields,
    change: ({ steps }, { target, fields: { data, ...signal }, by }, options) =>
      steps.signal(target, { ...signal, data: (data ?? null) as JsonValue, sentBy: by.name }, options),
    facts: (result) => {
      if (result.outcome === 'unknown') return result;
      const { state } = result.job;
      if (result.outcome === 'illegal') return { outcome: 'illegal', why: `it is ${state}`, state };
      if (result.outcome === 'full') return { outcome: 'illegal', why: `it ${tooManySignals}` };
      return { outcome: result.changed ? 'done' : 'unchanged' };
    },
    after: jobAfter,
  }),
  rerunFrom: operation<typeof RerunFields, Job, RerunResult>({
    on: 'jobs',
    name: 'rerun-from',
    summary: 'Run a job again from one of its steps',
    note: 'Drops what is stored of this step and of all that started later, and makes the job ready. The results of earlier steps and all signals stay. Allows one more attempt if none is left.',
    done: 'run again from a step',
    message: 'The job will run again from this step.',
    role: 'operator',
    states: { from: rerunStates, to: ['enqueued'], unchanged: [] },
    fields: RerunFields,
    change: ({ steps }, { target, fields: { step } }, options) => steps.rerunFrom(target, step, options),
    facts: (result, { fields: { step } }) => {
      switch (result.outcome) {
        case 'unknown':
          return result;
        case 'illegal':
          return { outcome: 'illegal', why: `it is ${result.job.state}`, state: result.job.state };
        case 'unknownStep':
          return { outcome: 'illegal', why: `it has no step “${step}”` };
        case 'ok':
          return { outcome: 'done', before: { dropped: [...result.dropped] } };
      }
    },
    after: jobAfter,
  }),
};

function jobAfter(_storage: unknown, _call: unknown, result: SignalResult | RerunResult): Job | null {
  return result.outcome === 'unknown' ? null : result.job;
}
