import type { RecurringJob } from '@longshore/jobs';
import {
  failingRecurringWarnings,
  findFailingRecurring,
  findMissed,
  missedWarnings,
} from '../../diagnosis/failing-recurring.js';
import { findJobStall } from '../../diagnosis/stall-search.js';
import { findLate } from '../../diagnosis/late-recurring.js';
import { cronWords } from '../../format/cron-words.js';
import { pauseText } from '../../diagnosis/pause.js';
import { parseExactly, redact, Schedule } from '@longshore/jobs/storage';
import { jsonTokens } from '../../format/json-tokens.js';
import { capitalized } from '../../format/sentence.js';
import { detailOf, type TimeDetail, timeIn, zoneNameAt } from '../../format/zoned-time.js';
import { notFound } from '../../http/problem.js';
import { jobLine } from '../job-row.js';
import { findJobs, isFirstSearch } from '../../reading/found-jobs.js';
import type { PageContext, PageRequest } from '../page.js';
import type { Page } from '../../shell/page.js';

const NEXT_TIMES = 5;
const LAST_RUNS = 20;

export async function recurringJobPage({ params }: PageRequest, context: PageContext): Promise<Page> {
  const id = params['recurring'] ?? '';
  await find(id, context);
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
    find(id, context),
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
    words: cronWords(job.cron),
    args: jsonTokens(redact(parseExactly(args ?? 'null'), context.redact)),
    warnings: [
      ...failingRecurringWarnings(
        failing.filter((each) => each.id === id),
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
  const next = times.map((at) => ({
    at,
    there: `${timeIn(timeZone, at, detail)} ${zoneNameAt(timeZone, at)}`,
  }));
  return { next, detail };
}

/** Returns up to `count` due times later than `after`; none if the schedule is invalid. */
async function following(
  { cron, timeZone }: Pick<RecurringJob, 'cron' | 'timeZone'>,
  after: Date,
  count: number,
): Promise<Date[]> {
  try {
    return await new Schedule(cron, timeZone).upcomingInSlices(count, after);
  } catch {
    return [];
  }
}

async function loadRuns(id: string, context: PageContext): Promise<object> {
  const { reader, redact } = context;
  const [job, found, missed] = await Promise.all([
    find(id, context),
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
  return { id, missed: spans, ...found, searching: isFirstSearch(found) };
}

async function find(id: string, { reader }: Pick<PageContext, 'reader'>): Promise<RecurringJob> {
  const job = await reader.recurring.find(id);
  if (job !== null) return job;
  throw notFound(
    'There is no such recurring job',
    `No recurring job has the id “${id}”. It may have been removed.`,
  );
}
