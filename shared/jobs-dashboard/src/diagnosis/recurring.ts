import type { Job, JobError, RecurringJob } from '@longshore/jobs';
import { type BriefJob, isFinished, type MissedRuns, Schedule } from '@longshore/jobs/storage';
import { counted } from '../format/count.js';
import { sentence } from '../format/sentence.js';
import type { ReadingContext } from '../reading/dashboard-reader.js';
import { errorLine } from './failures.js';
import { pauseEnd, pauseText } from './pause.js';
import { countFigure, type Warning } from './warning.js';

/**
 * A recurring job is late if it is overdue by more than this, in milliseconds. Servers normally enqueue due jobs within
 * about a second.
 */
const LATE_MS = 60_000;

type DueJob = Pick<RecurringJob, 'pausedAt' | 'nextDueAt' | 'overlap' | 'lastJobId'>;

/**
 * Returns the late recurring jobs, longest overdue first. Omits those whose `overlap` is `wait` and whose previous job
 * is unfinished.
 */
export async function findLate<Recurring extends DueJob>(
  recurring: readonly Recurring[],
  nowMs: number,
  { jobs: reader }: Pick<ReadingContext['reader'], 'jobs'>,
): Promise<Recurring[]> {
  const late = lateAmong(recurring, nowMs);
  const ids = late.flatMap(({ overlap, lastJobId }) =>
    overlap === 'wait' && lastJobId !== null ? [lastJobId] : [],
  );
  if (ids.length === 0) return late;
  return withoutReason(late, await reader.findMany(ids));
}

function lateAmong<Recurring extends DueJob>(jobs: readonly Recurring[], nowMs: number): Recurring[] {
  const due = ({ nextDueAt }: DueJob): number => nextDueAt?.getTime() ?? Infinity;
  return jobs
    .filter((job) => job.pausedAt === null && nowMs - due(job) > LATE_MS)
    .toSorted((one, other) => due(one) - due(other));
}

/**
 * Returns the late recurring jobs that are not waiting for their previous job to finish.
 *
 * @param last the previous jobs of the late recurring jobs, except any that have been removed
 */
function withoutReason<Recurring extends DueJob>(
  late: readonly Recurring[],
  last: readonly Pick<Job, 'id' | 'state'>[],
): Recurring[] {
  const unfinished = new Set(last.filter(({ state }) => !isFinished(state)).map(({ id }) => id));
  return late.filter(({ overlap, lastJobId }) => overlap !== 'wait' || !unfinished.has(lastJobId ?? ''));
}

export function lateRecurring(late: readonly RecurringJob[]): Warning[] {
  const [first] = late;
  if (first === undefined || first.nextDueAt === null) return [];
  const due = { at: first.nextDueAt };
  const text =
    late.length === 1
      ? sentence`Recurring job “${first.id}” is late: it was due ${due}, and no server has enqueued it.`
      : sentence`${counted(late.length, 'recurring job')} are late: the first was due ${due}, and no server has enqueued it.`;
  return [
    {
      kind: 'schedule-late',
      cause: 'recurring jobs are late',
      figure: { value: [{ since: first.nextDueAt }], label: 'late' },
      since: first.nextDueAt,
      isMeasured: true,
      text,
      advice: 'Check that servers can write to the storage; their logs have the cause.',
      link: late.length === 1 ? `recurring/${encodeURIComponent(first.id)}` : 'recurring',
    },
  ];
}

/** Maximum number of runs to examine for each recurring job, latest first. */
const RUNS = 20;
/** Maximum number of recurring jobs to examine. Those that fired most recently take precedence. */
const MAX_JOBS = 200;
/**
 * Maximum number of recurring jobs whose earlier runs are read. Earlier runs are needed only if the latest run has
 * failed or is unfinished.
 */
const MAX_SUSPECTS = 20;
/** A single failure gets no warning if the time between two runs is at most this long, in milliseconds. */
const SOON_MS = 10 * 60_000;
/**
 * A streak of failures gets no warning if it is more probable than this, given the share of earlier runs that failed.
 */
const MAX_CHANCE = 0.3;
/** How long the list of failing recurring jobs stays fresh, in milliseconds. */
const FRESH_MS = 10_000;

/** A recurring job that has failed at least once since the last success. */
export interface FailingRecurring {
  readonly id: string;
  readonly name: string;
  /** The latest finished run. */
  readonly last: Pick<Job, 'finishedAt'> & { readonly error: JobError | null };
  /** Number of runs that have failed in a row, up to and including the latest. */
  readonly streak: number;
  /** Of the runs before the streak: how many were read, and how many of these failed. */
  readonly earlier: { readonly runs: number; readonly failed: number };
}

type Sources = Pick<ReadingContext, 'reader' | 'cache'>;

/** Finds the recurring jobs whose latest run has failed and that need a warning (see {@link judge}). */
export function findFailingRecurring({ reader, cache }: Sources): Promise<FailingRecurring[]> {
  return cache.readStale(
    'failing recurring jobs',
    () => read(reader),
    () => FRESH_MS,
  );
}

async function read(reader: ReadingContext['reader']): Promise<FailingRecurring[]> {
  const fired = (await reader.recurring.list())
    .filter(({ pausedAt, lastJobId }) => pausedAt === null && lastJobId !== null)
    .toSorted((one, other) => firedAt(other) - firedAt(one))
    .slice(0, MAX_JOBS);
  if (fired.length === 0) return [];
  const ids = fired.flatMap(({ lastJobId }) => lastJobId ?? []);
  const latest = await reader.jobs.findMany(ids);
  const suspects = latest
    .filter(({ state }) => state === 'failed' || !isFinished(state))
    .toSorted((one, other) => Number(other.state === 'failed') - Number(one.state === 'failed'))
    .slice(0, MAX_SUSPECTS);
  const judged = await Promise.all(
    suspects.map(async ({ id }) => {
      const recurring = fired.find(({ lastJobId }) => lastJobId === id);
      if (recurring === undefined) return null;
      const filter = { recurringJobId: [recurring.id], state: ['done', 'failed'] as const };
      const { jobs } = await reader.jobs.listBrief({ filter, limit: RUNS, reach: 'near' });
      return judge(recurring, jobs);
    }),
  );
  return judged.filter((streak) => streak !== null);
}

/**
 * Returns a recurring job's streak of failures; `null` if it needs no warning.
 *
 * @param runs the latest runs that succeeded or failed, latest first
 */
export function judge(
  { id, name, lastDueAt, nextDueAt }: Pick<RecurringJob, 'id' | 'name' | 'lastDueAt' | 'nextDueAt'>,
  runs: readonly Pick<BriefJob, 'state' | 'error' | 'finishedAt'>[],
): FailingRecurring | null {
  const firstDone = runs.findIndex(({ state }) => state === 'done');
  const streak = firstDone < 0 ? runs.length : firstDone;
  const [last] = runs;
  if (last === undefined || streak === 0) return null;
  const before = runs.slice(streak);
  const failed = before.filter(({ state }) => state === 'failed').length;
  const usual = before.length === 0 ? 0 : failed / before.length;
  const intervalMs =
    lastDueAt === null || nextDueAt === null ? Infinity : nextDueAt.getTime() - lastDueAt.getTime();
  if (streak === 1 && intervalMs <= SOON_MS) return null;
  if (usual ** streak > MAX_CHANCE) return null;
  return {
    id,
    name,
    last: { finishedAt: last.finishedAt, error: last.error },
    streak,
    earlier: { runs: before.length, failed },
  };
}

/** @param except names of job types that already have a warning */
export function failingRecurringWarnings(
  failing: readonly FailingRecurring[],
  except: ReadonlySet<string | null>,
): Warning[] {
  return failing
    .filter(({ name }) => !except.has(name))
    .map(({ id, last, streak, earlier }) => {
      const error = errorLine(last.error?.name ?? 'an error', last.error?.message ?? '');
      const runs = streak === 1 ? 'its last run failed' : `its last ${streak} runs failed, the latest`;
      const at = last.finishedAt === null ? '' : sentence` ${{ at: last.finishedAt }}`;
      return {
        kind: 'schedule-fails',
        cause: `recurring job ${id} fails`,
        text: sentence`Recurring job “${id}” is failing: ${runs}${at} with ${error}.`,
        figure: countFigure(streak, 'run failed', 'runs in a row failed'),
        advice: usually(earlier),
        link: `recurring/${encodeURIComponent(id)}`,
      };
    });
}

function usually({ runs, failed }: FailingRecurring['earlier']): string {
  if (runs === 0) return 'None of its stored runs has succeeded.';
  if (failed === 0)
    return runs === 1 ? 'The run before that succeeded.' : `The ${runs} runs before that succeeded.`;
  return `${failed} of the ${counted(runs, 'run')} before that failed.`;
}

/**
 * Returns each recurring job's latest missed run, if it was missed because no server was running. Omits the run once
 * a later run has come due. Examines only the first 200 recurring jobs.
 */
export async function findMissed(
  jobs: readonly Pick<RecurringJob, 'id' | 'lastDueAt'>[],
  { recurring }: Pick<ReadingContext['reader'], 'recurring'>,
): Promise<MissedRuns[]> {
  if (jobs.length === 0) return [];
  const missed = await recurring.listMissed(
    jobs.slice(0, MAX_JOBS).map(({ id }) => id),
    1,
  );
  return missed.filter(({ recurringJobId, reason, from }) => {
    const lastDueAt = jobs.find(({ id }) => id === recurringJobId)?.lastDueAt ?? null;
    return reason === 'misfire' && (lastDueAt === null || lastDueAt < from);
  });
}

export function missedWarnings(missed: readonly MissedRuns[]): Warning[] {
  return missed.map(({ recurringJobId, from }) => ({
    kind: 'schedule-missed',
    cause: `recurring job ${recurringJobId} missed a run`,
    text: sentence`Recurring job “${recurringJobId}” missed the run that was due ${{ at: from }}: no server was running.`,
    advice: 'Run it now if the work is still needed. This warning ends when its next run is due.',
    link: `recurring/${encodeURIComponent(recurringJobId)}`,
    since: from,
    button: { path: `recurring/${encodeURIComponent(recurringJobId)}/trigger`, word: 'Run now' },
  }));
}

/** Maximum number of paused recurring jobs to examine, and of skipped runs to count for each. */
const MAX_PAUSED = 50;
const MAX_SKIPPED = 100;

/** A paused recurring job whose due times have passed since it was paused. */
export interface SkippedRuns {
  readonly job: RecurringJob;
  /** Number of due times since the pause, at most {@link MAX_SKIPPED}. */
  readonly runs: number;
}

/** Finds the paused recurring jobs that have skipped runs. */
export function findSkipped({
  reader,
  cache,
  now,
}: Pick<ReadingContext, 'reader' | 'cache' | 'now'>): Promise<SkippedRuns[]> {
  return cache.readStale(
    'skipped runs of recurring jobs',
    async () => {
      const paused = (await reader.recurring.list()).filter(({ pausedAt }) => pausedAt !== null);
      const found = await Promise.all(paused.slice(0, MAX_PAUSED).map((job) => skippedOf(job, now())));
      return found.filter(({ runs }) => runs > 0);
    },
    () => FRESH_MS,
  );
}

async function skippedOf(job: RecurringJob, nowMs: number): Promise<SkippedRuns> {
  try {
    const due = await new Schedule(job).upcomingInSlices(MAX_SKIPPED, job.pausedAt ?? new Date(nowMs));
    return { job, runs: due.filter((at) => at.getTime() <= nowMs).length };
  } catch {
    return { job, runs: 0 }; // the schedule is invalid, which its page shows
  }
}

export function skippedWarnings(skipped: readonly SkippedRuns[]): Warning[] {
  return skipped.map(({ job: { id, ...pause }, runs }) => ({
    kind: 'schedule-paused',
    cause: `recurring job ${id} is paused`,
    text: sentence`Recurring job “${id}” was ${pauseText(pause) ?? ''}.`,
    figure: countFigure(runs, 'run skipped', 'runs skipped', runs < MAX_SKIPPED ? '' : '≥ '),
    advice: `${runs === MAX_SKIPPED ? 'At least ' : ''}${counted(runs, 'run has', 'runs have')} been skipped since. ${pauseEnd(pause, 'Resume it to let it run again.')}`,
    link: `recurring/${encodeURIComponent(id)}`,
    ...(pause.pausedAt !== null && { since: pause.pausedAt }),
    button: { path: `recurring/${encodeURIComponent(id)}/resume`, word: 'Resume the recurring job' },
  }));
}

function firedAt({ lastDueAt }: RecurringJob): number {
  return lastDueAt?.getTime() ?? 0;
}
