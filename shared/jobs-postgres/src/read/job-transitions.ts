import type { JobError, JobState } from '@longshore/jobs';
import { isFinished, readMeta, type Transition, type TransitionReason } from '@longshore/jobs/storage';
import { readError, readTime } from '../connection/stored-value.js';
import { type JobRow, type PastAttempt, pastAttemptsOf } from '../jobs/job-row.js';
import type { RecordedReason, TransitionRow } from '../jobs/job-transitions.sql.js';

/**
 * A period of a job's life, described by one version of the job's row. A transition overwrote the row at the end of
 * each past period. The last period is the current row.
 */
interface Period {
  /** Number of earlier periods; attempts that a recorded transition describes as well count twice. */
  readonly place: number;
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
  suspended: 'scheduled',
  released: 'enqueued',
  retried: 'enqueued',
  run: 'enqueued',
  rescheduled: 'scheduled',
  'parents-ended': 'scheduled',
};

/** Maximum number of transitions in one period. */
const stepsPerPeriod = 5;

/**
 * Returns the creation of a job and its newest other transitions, oldest first. Derives them from the job's row, its
 * attempts and its recorded transitions.
 *
 * @param recorded the first recorded transition, and at least `limit` of the newest ones
 */
export function transitionsOf(row: JobRow, recorded: readonly TransitionRow[], limit: number): Transition[] {
  const stretches = periodsOf(row, recorded);
  const steps: Transition[] = [];
  let state: JobState | null = null;
  let [place, numbered] = [0, 1];
  const step = (to: JobState, reason: TransitionReason, at: Date, rest: Partial<Transition> = {}): void => {
    state = to;
    const none = { attempt: null, serverId: null, runAt: null, error: null };
    steps.push({ number: place * stepsPerPeriod + numbered, state: to, reason, at, ...none, ...rest });
    numbered += 1;
  };
  for (const [index, stretch] of stretches.entries()) {
    const { runAt, readyAt, startedAt, serverId, attempt, finished, endedBy } = stretch;
    const run = startedAt === null ? {} : { attempt, serverId };
    [place, numbered] = [stretch.place, 1];
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
  const [created, ...laterTransitions] = steps;
  return created === undefined ? [] : [{ ...created, number: 1 }, ...laterTransitions.slice(-(limit - 1))];
}

function periodsOf(row: JobRow, recorded: readonly TransitionRow[]): Period[] {
  const past = pastAttemptsOf(row);
  const retried = new Set(
    recorded.flatMap(({ reason, before }) => (reason === 'retried' ? (before.startedAt ?? []) : [])),
  );
  const errors = new Map(past.map(({ startedAt, error }) => [startedAt, error]));
  const omitted = recorded.at(-1)?.omitted ?? 0;
  const dropped = droppedAttempts(past);
  const ended = [
    ...recorded.map((row) => {
      const earlier = row.before.startedAt === undefined ? row.attempt : row.attempt - 1;
      return { isListed: true, omitted: row.omitted + dropped(earlier), period: ofTransition(row, errors) };
    }),
    ...past.map((attempt) => {
      const earlier = omitted + dropped(attempt.attempt - 1);
      return { isListed: !retried.has(attempt.startedAt), omitted: earlier, period: ofAttempt(attempt) };
    }),
  ]
    .toSorted((left, right) => timeOf(left.period) - timeOf(right.period))
    .flatMap(({ isListed, omitted, period }, index) =>
      isListed ? [{ ...period, place: index + omitted }] : [],
    );
  const finished =
    isFinished(row.state) && row.finished_at !== null
      ? { state: row.state, at: row.finished_at, error: readError(row.error) }
      : null;
  const { run_at: runAt, ready_at: readyAt, started_at: startedAt, server_id: serverId, attempt } = row;
  const place = recorded.length + past.length + omitted + dropped(Infinity);
  return [...ended, { place, runAt, readyAt, startedAt, serverId, attempt, finished, endedBy: null }];
}

/** Returns how many of the attempts up to a number are not kept; those follow the first ({@link maxKeptAttempts}). */
function droppedAttempts([first, second]: readonly PastAttempt[]): (last: number) => number {
  if (first === undefined || second === undefined) return () => 0;
  const dropped = Math.max(0, second.attempt - first.attempt - 1);
  return (last) => Math.min(dropped, Math.max(0, last - first.attempt));
}

function ofTransition(
  { reason, at, attempt, before }: TransitionRow,
  errors: ReadonlyMap<string, JobError | null>,
): Omit<Period, 'place'> {
  const error =
    before.error ?? (before.startedAt === undefined ? null : (errors.get(before.startedAt) ?? null));
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

function ofAttempt({ attempt, outcome, serverId, error, ...times }: PastAttempt): Omit<Period, 'place'> {
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

function timeOf({ endedBy }: Pick<Period, 'endedBy'>): number {
  return endedBy?.at.getTime() ?? Infinity;
}

function toDate(text: string | null | undefined): Date | null {
  return text === undefined || text === null ? null : readTime(text);
}
