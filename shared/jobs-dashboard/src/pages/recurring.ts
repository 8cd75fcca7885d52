import { compareTexts } from '@longshore/edge';
import type { Job, RecurringJob } from '@longshore/jobs';
import {
  type MissedRuns,
  parseExactly,
  redact,
  Schedule,
  type StoredSchedule,
} from '@longshore/jobs/storage';
import { pauseText } from '../diagnosis/pause.js';
import {
  failingRecurringWarnings,
  findFailingRecurring,
  findLate,
  findMissed,
  missedWarnings,
} from '../diagnosis/recurring.js';
import { findJobStall } from '../diagnosis/stall.js';
import { jsonTokens } from '../format/json-tokens.js';
import { scheduleWords } from '../format/schedule-words.js';
import { capitalized } from '../format/sentence.js';
import { detailOf, type TimeDetail, timeIn, zoneNameAt } from '../format/time.js';
import { notFound } from '../http/problem.js';
import { findJobs, isFirstSearch } from '../reading/job-search.js';
import type { Page, PageContext, PageRequest } from '../shell/page.js';
import { jobLine, jobRow } from './job-row.js';
import { pageOf } from './list-page.js';

const ROWS = 100;

export async function recurringPage({ query }: PageRequest, { reader }: PageContext): Promise<Page> {
  return {
    title: 'Recurring jobs',
    section: 'recurring',
    view: 'page',
    regions: [
      {
        name: 'recurring',
        view: 'recurring-list',
        everyMs: 5_000,
        load: async () => {
          const { rows, ...paging } = pageOf(
            (await reader.recurring.list()).toSorted(byNextDue),
            query,
            ROWS,
          );
          const [last, missed] = await Promise.all([
            lastRuns(rows, reader),
            reader.recurring.listMissed(
              rows.map(({ id }) => id),
              1,
            ),
          ]);
          return { ...paging, jobs: rows.map((job) => recurringRow(job, last, missed)) };
        },
      },
    ],
  };
}

/** Reads the latest job of each row in one query. The result omits jobs that have been removed. */
async function lastRuns(
  rows: readonly RecurringJob[],
  reader: PageContext['reader'],
): Promise<ReadonlyMap<string, Job>> {
  const ids = rows.flatMap(({ lastJobId }) => (lastJobId === null ? [] : [lastJobId]));
  if (ids.length === 0) return new Map();
  const jobs = await reader.jobs.findMany(ids);
  return new Map(jobs.map((job) => [job.id, job]));
}

function recurringRow(
  { args: _args, ...row }: RecurringJob,
  last: ReadonlyMap<string, Job>,
  missed: readonly MissedRuns[],
): object {
  const job = last.get(row.lastJobId ?? '');
  const latest = missed.find(
    ({ recurringJobId, from }) => recurringJobId === row.id && isLater(from, row.lastDueAt),
  );
  return {
    ...row,
    paused: pauseText(row),
    words: scheduleWords(row),
    lastState: job?.state ?? null,
    error: job === undefined || job.state === 'done' ? null : jobRow(job).error,
    missed: latest ?? null,
  };
}

function isLater(one: Date, other: Date | null): boolean {
  return other === null || one > other;
}

function byNextDue(a: RecurringJob, b: RecurringJob): number {
  const due = ({ nextDueAt }: RecurringJob): number => nextDueAt?.getTime() ?? Number.MAX_VALUE;
  return due(a) - due(b) || compareTexts(a.id, b.id);
}

const NEXT_TIMES = 5;
const LAST_RUNS = 20;

export async function recurringJobPage({ params }: PageRequest, context: PageContext): Promise<Page> {
  const id = params['recurring'] ?? '';
  await findRecurringJob(id, context);
  return {
    title: id,
    section: 'recurring',
    view: 'page',
    kicker: { path: 'recurring', text: 'Recurring jobs' },
    regions: [
      { name: 'schedule', view: 'recurring-schedule', everyMs: 5_000, load: () => loadSchedule(id, context) },
      { name: 'runs', view: 'recurring-runs', everyMs: 5_000, load: () => loadRuns(id, context) },
    ],
  };
}

async function loadSchedule(id: string, context: PageContext): Promise<object> {
  const [{ args: _rounded, ...job }, args, failing] = await Promise.all([
    findRecurringJob(id, context),
    context.reader.recurring.findArgs(id),
    findFailingRecurring(context),
  ]);
  const [missed, late, last] = await Promise.all([
    findMissed([job], context.reader),
    findLate([job], context.now(), context.reader),
    job.lastJobId === null ? null : context.reader.jobs.find(job.lastJobId),
  ]);
  const stall = last === null ? null : await findJobStall(last, context);

  return {
    job,
    late: late.length > 0,
    stall: stall?.text ?? null,
    isOverdue: job.nextDueAt !== null && job.nextDueAt.getTime() < context.now(),
    paused: capitalized(pauseText(job)),
    words: scheduleWords(job),
    args: jsonTokens(redact(parseExactly(args ?? 'null'), context.redact)),
    warnings: [
      ...failingRecurringWarnings(
        failing.filter((streak) => streak.id === id),
        new Set(),
      ),
      ...missedWarnings(missed),
    ],
    ...(await nextTimes(job, new Date(context.now()))),
  };
}

/**
 * Returns the next due times of a recurring job. Starts from the stored `nextDueAt` instead of from `now`, so that the
 * list stays the same until that time.
 */
async function nextTimes(
  job: Omit<RecurringJob, 'args'>,
  now: Date,
): Promise<{ next: object[]; detail: TimeDetail }> {
  const { nextDueAt, timeZone } = job;
  const times = nextDueAt === null ? [] : [nextDueAt, ...(await following(job, nextDueAt, NEXT_TIMES - 1))];
  const detail = detailOf(times, now);
  const isMoved = movedIn(job);
  const next = times.map((at) => ({
    at,
    isMoved: isMoved(at),
    there: `${timeIn(timeZone, at, detail)} ${zoneNameAt(timeZone, at)}`,
  }));
  return { next, detail };
}

/** Returns up to `count` due times later than `after`; none if the schedule is invalid. */
async function following(job: StoredSchedule, after: Date, count: number): Promise<Date[]> {
  try {
    return await new Schedule(job).upcomingInSlices(count, after);
  } catch {
    return [];
  }
}

/** Returns the check whether a due time is moved by a change of the clock; none is if the schedule is invalid. */
function movedIn(job: StoredSchedule): (at: Date) => boolean {
  try {
    const schedule = new Schedule(job);
    return (at) => schedule.isMoved(at);
  } catch {
    return () => false;
  }
}

async function loadRuns(id: string, context: PageContext): Promise<object> {
  const { reader, redact } = context;
  const [job, runs, missed] = await Promise.all([
    findRecurringJob(id, context),
    findJobs(
      {
        key: JSON.stringify(['runs', id]),
        query: { filter: { recurringJobId: [id] }, limit: LAST_RUNS },
        row: (run) => jobLine(run, redact),
      },
      context,
    ),
    reader.recurring.listMissed([id], LAST_RUNS),
  ]);
  const spans: object[] = [];
  for (const { from, until, reason } of missed) {
    const [second] = await following(job, from, 1);
    spans.push({ from, until: second !== undefined && second < until ? until : null, reason });
  }
  return { id, missed: spans, ...runs, searching: isFirstSearch(runs) };
}

async function findRecurringJob(id: string, { reader }: Pick<PageContext, 'reader'>): Promise<RecurringJob> {
  const job = await reader.recurring.find(id);
  if (job !== null) return job;
  throw notFound(
    'There is no such recurring job',
    `No recurring job has the id “${id}”. It may have been removed.`,
  );
}
