import { shorten } from '@longshore/edge';
import type { Job, JobError, JsonValue } from '@longshore/jobs';
import {
  isFinished,
  type JobSignal,
  jobSignalPrefix,
  redact,
  rerunStates,
  signalOf,
  type Step,
  type StepHistory,
  type StepKind,
} from '@longshore/jobs/storage';
import { isOpenEnded } from '../diagnosis/waits.js';
import { type JsonText, jsonTokens } from '../format/json-tokens.js';
import { type Badge, stepBadge } from '../format/state-badge.js';

/** Maximum number of steps to show, the latest ones. */
const MAX_STEPS = 100;
/** Maximum number of signals to show of each step, and of those that no step has waited for. */
const MAX_SIGNALS = 20;
/** Maximum number of characters of a result, or of the data of a signal. */
const MAX_DOCUMENT = 4_000;
const MAX_MESSAGE = 2_000;
/** Maximum number of steps that a confirmation names. */
const MAX_NAMED = 8;

const kindWords: Readonly<Record<StepKind, string>> = {
  step: 'step',
  sleep: 'sleep',
  wait: 'wait for a signal',
  job: 'wait for a job',
  version: 'version of the code',
};

/** The model of the section about the steps of a job. */
export interface StepsModel {
  readonly steps: readonly StepRow[];
  /** How many earlier steps are left out. */
  readonly leftOut: number;
  /** When the first of the shown steps started, and when the last one ended; `null` if one still waits. */
  readonly from: Date | null;
  readonly until: Date | null;
  /** Signals with names for which no step has waited so far. */
  readonly otherSignals: readonly SignalRow[];
  readonly moreSignals: number;
  /** The names of the signals that an operator can send, because the job waits for them. */
  readonly awaited: readonly string[];
}

interface StepRow {
  readonly name: string;
  readonly kind: string;
  readonly badge: Badge;
  readonly from: Date;
  readonly until: Date | null;
  /** At what time the step ends or goes on at the latest; `null` if it does not wait. */
  readonly waitsUntil: Date | null;
  readonly attempts: number;
  /** How many signals it waits for; `null` if it waits for none. */
  readonly needed: number | null;
  readonly signals: readonly SignalRow[];
  readonly moreSignals: number;
  readonly childId: string | null;
  readonly result: JsonText | null;
  readonly error: Pick<JobError, 'name' | 'message'> | null;
  /** Whether the next attempt of the job runs the failed step again. */
  readonly runsAgain: boolean;
  /** What running the job again from this step does; `null` if its state does not allow it. */
  readonly rerun: string | null;
}

interface SignalRow {
  readonly name: string;
  readonly at: Date;
  readonly sentBy: string | null;
  readonly data: JsonText;
}

/** Returns what the page of a job shows of its steps and signals. Redacts results and data as the page's other documents. */
export function stepsModel(job: Job, { steps, signals }: StepHistory, pattern: RegExp): StepsModel {
  const shown = steps.slice(-MAX_STEPS);
  const document = (value: JsonValue): JsonText => jsonTokens(redact(value, pattern), MAX_DOCUMENT);
  const signalRow = ({ name, at, sentBy, data }: JobSignal): SignalRow => ({
    name,
    at,
    sentBy,
    data: document(data),
  });
  const signalNames = new Set(steps.map(signalOf));
  const others = signals.filter(({ name }) => !signalNames.has(name) && !name.startsWith(jobSignalPrefix));
  return {
    steps: shown.map((step) => {
      const own = step.kind === 'wait' ? signals.filter(({ name }) => name === step.name) : [];
      return {
        ...rowOf(step, job, document),
        signals: own.slice(0, MAX_SIGNALS).map(signalRow),
        moreSignals: Math.max(0, own.length - MAX_SIGNALS),
        rerun: rerunStates.some((state) => state === job.state) ? rerunEffect(step, steps) : null,
      };
    }),
    leftOut: steps.length - shown.length,
    ...spanOf(shown, job),
    otherSignals: others.slice(0, MAX_SIGNALS).map(signalRow),
    moreSignals: Math.max(0, others.length - MAX_SIGNALS),
    awaited: job.awaits.filter((name) => !name.startsWith(jobSignalPrefix)),
  };
}

type RowOfStep = Omit<StepRow, 'signals' | 'moreSignals' | 'rerun'>;

function rowOf(step: Step, job: Job, document: (value: JsonValue) => JsonText): RowOfStep {
  const { name, kind, state, startedAt, until, attempts, childId, error } = step;
  const isLeft = state === 'waiting' && isFinished(job.state);
  const waits = state === 'waiting' && !isLeft && until !== null && !isOpenEnded(until, startedAt);
  const hasResult = state === 'done' ? kind !== 'sleep' : state === 'timed-out' && step.result !== null;
  return {
    name,
    kind: kindWords[kind],
    badge: isLeft ? stepBadge.left : stepBadge[state],
    from: startedAt,
    until: step.finishedAt ?? job.finishedAt,
    waitsUntil: waits ? until : null,
    attempts,
    needed: kind === 'wait' ? step.signals : null,
    childId,
    result: hasResult ? document(step.result) : null,
    error: error === null ? null : { name: error.name, message: shorten(error.message, MAX_MESSAGE, '…') },
    runsAgain: state === 'failed' && !step.isRemembered && !isFinished(job.state),
  };
}

function spanOf(steps: readonly Step[], { finishedAt }: Job): Pick<StepsModel, 'from' | 'until'> {
  const starts = steps.map(({ startedAt }) => startedAt.getTime());
  const ends = steps.map((step) => (step.finishedAt ?? finishedAt)?.getTime() ?? null);
  if (starts.length === 0) return { from: null, until: null };
  return {
    from: new Date(Math.min(...starts)),
    until: ends.every((end) => end !== null) ? new Date(Math.max(...ends)) : null,
  };
}

/** Says which results are dropped if the job runs again from a step. */
function rerunEffect(from: Step, steps: readonly Step[]): string {
  const dropped = steps.filter(({ position }) => position >= from.position).map(({ name }) => `“${name}”`);
  const named = dropped.slice(0, MAX_NAMED);
  const more = dropped.length - named.length;
  const list = more > 0 ? `${named.join(', ')} and ${more} more` : listed(named);
  return `Drops what is stored of ${list}, and makes the job ready. Their work runs again. Earlier steps keep their results, and signals stay.`;
}

function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}
