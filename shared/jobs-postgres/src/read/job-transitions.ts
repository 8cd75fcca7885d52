import type { JobError, JobState } from '@longshore/jobs';
import { isFinished, readMeta, type Transition, type TransitionReason } from '@longshore/jobs/storage';
import { readError, readTime } from '../connection/stored-value.js';
import { type JobRow, type PastAttempt, pastAttemptsOf } from './job-row.js';
import type { RecordedReason, TransitionRow } from './job-transitions.sql.js';

/**
 * A period of a job's life, described by one version of the job's row. A transition overwrote the row at the end of
 * each past period. The last period is the current row.
 */
interface Period {
  readonly runAt: Date | null;
  readonly readyAt: Date | null;
  readonly startedAt: Date | null;
  readonly serverId: string | null;
  readonly attempt: number;
  /** How the job ended in this period: the final state, the time and the error. `null` if the job did not end. */
  readonly finished: { readonly state: JobState; readonly at: Date; readonly error: JobError | null } | null;
  /** The transition that ended the period; `null` for the current row. */
  readonly endedBy: {
    readonly reason: RecordedReason | 'failed' | 'lost';
    readonly to: JobState;
    readonly at: Date;
    readonly error: JobError | null;
  } | null;
}

const stateAfter: Record<NonNullable<Period['endedBy']>['reason'], JobState> = {
  failed: 'scheduled',
  lost: 'enqueued',
  snoozed: 'scheduled',
  released: 'enqueued',
  retried: 'enqueued',
  run: 'enqueued',
  rescheduled: 'scheduled',
  'parents-ended': 'scheduled',
};

/**
 * Returns every transition of a job, oldest first. Derives them from the job's row, its attempts and its recorded
 * transitions.
 */
export function transitionsOf(row: JobRow, recorded: readonly TransitionRow[]): Transition[] {
  const stretches = periodsOf(row, recorded);
  const steps: Transition[] = [];
  let state: JobState | null = null;
  const step = (to: JobState, reason: TransitionReason, at: Date, rest: Partial<Transition> = {}): void => {
    state = to;
    steps.push({ state: to, reason, at, attempt: null, serverId: null, runAt: null, error: null, ...rest });
  };
  for (const [index, stretch] of stretches.entries()) {
    const { runAt, readyAt, startedAt, serverId, attempt, finished, endedBy } = stretch;
    const run = startedAt === null ? {} : { attempt, serverId };
    if (state === null)
      step(firstState(row, runAt), 'created', row.created_at, { runAt: untilThen(row, runAt) });
    const waits = state as JobState | null;
    if (readyAt !== null && (waits === 'scheduled' || waits === 'awaiting'))
      step('enqueued', waits === 'scheduled' ? 'due' : 'parents-ended', readyAt);
    if (startedAt !== null) step('processing', 'claimed', startedAt, run);
    if (finished !== null)
      step(finished.state, reasonOf(finished), finished.at, { ...run, error: finished.error });
    if (endedBy === null) continue;
    const { to } = endedBy;
    const next = to === 'scheduled' ? (stretches[index + 1]?.runAt ?? null) : null;
    const ended = finished === null ? run : {};
    step(to, endedBy.reason, endedBy.at, { ...ended, runAt: next, error: endedBy.error });
  }
  return steps;
}

function periodsOf(row: JobRow, recorded: readonly TransitionRow[]): Period[] {
  const past = pastAttemptsOf(row);
  const retried = new Set(
    recorded.flatMap(({ reason, before }) => (reason === 'retried' ? (before.startedAt ?? []) : [])),
  );
  const fromRows = recorded.map((row) => ofTransition(row, past));
  const attempts = past.filter(({ startedAt }) => !retried.has(startedAt)).map(ofAttempt);
  const ended = [...fromRows, ...attempts].toSorted((left, right) => timeOf(left) - timeOf(right));
  const finished =
    isFinished(row.state) && row.finished_at !== null
      ? { state: row.state, at: row.finished_at, error: readError(row.error) }
      : null;
  const { run_at: runAt, ready_at: readyAt, started_at: startedAt, server_id: serverId, attempt } = row;
  return [...ended, { runAt, readyAt, startedAt, serverId, attempt, finished, endedBy: null }];
}

function ofTransition({ reason, at, attempt, before }: TransitionRow, past: readonly PastAttempt[]): Period {
  const error = before.error ?? past.find(({ startedAt }) => startedAt === before.startedAt)?.error ?? null;
  return {
    runAt: toDate(before.runAt),
    readyAt: toDate(before.readyAt),
    startedAt: toDate(before.startedAt),
    serverId: before.serverId ?? null,
    attempt,
    finished:
      before.state !== undefined && before.finishedAt !== undefined
        ? { state: before.state, at: readTime(before.finishedAt), error: readError(error) }
        : null,
    endedBy: { reason, to: before.waits === true ? 'awaiting' : stateAfter[reason], at, error: null },
  };
}

function ofAttempt({ attempt, outcome, serverId, error, ...times }: PastAttempt): Period {
  const reason = outcome === 'lost' ? 'lost' : 'failed';
  return {
    runAt: toDate(times.runAt),
    readyAt: toDate(times.readyAt),
    startedAt: toDate(times.startedAt),
    serverId,
    attempt,
    finished: null,
    endedBy: { reason, to: stateAfter[reason], at: readTime(times.finishedAt), error },
  };
}

function firstState(row: JobRow, runAt: Date | null): JobState {
  if (readMeta(row.meta).parentId !== null) return 'awaiting';
  return runAt === null ? 'enqueued' : 'scheduled';
}

function untilThen(row: JobRow, runAt: Date | null): Date | null {
  return firstState(row, runAt) === 'scheduled' ? runAt : null;
}

/** Returns why a job reached its final state. Jobs that the rescuer ended have an error named `AttemptLost`. */
function reasonOf({ state, error }: NonNullable<Period['finished']>): TransitionReason {
  if (error?.name === 'AttemptLost') return 'lost';
  return state === 'done' || state === 'failed' ? state : 'cancelled';
}

function timeOf({ endedBy }: Period): number {
  return endedBy?.at.getTime() ?? Infinity;
}

function toDate(text: string | null | undefined): Date | null {
  return text === undefined || text === null ? null : readTime(text);
}
