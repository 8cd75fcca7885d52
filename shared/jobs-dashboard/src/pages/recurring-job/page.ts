import { nextOccurrences, type RecurringJob } from '@longshore/jobs';
import { cronWords } from '../../format/cron-words.js';
import { parseExactly } from '../../format/exact-json.js';
import { jsonTokens } from '../../format/json-tokens.js';
import { redact } from '../../format/redaction.js';
import { detailOf, type TimeDetail, timeIn, zoneNameAt } from '../../format/zoned-time.js';
import { notFound } from '../../http/problem.js';
import { jobLine } from '../job-row.js';
import type { Page, PageContext, PageRequest } from '../page.js';

const NEXT_TIMES = 5;
const LAST_RUNS = 20;
/** A job that is overdue for longer than this, in milliseconds, is late. Servers enqueue due jobs within about a second. */
const LATE_MS = 10_000;

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
  const [{ args: _rounded, ...job }, args] = await Promise.all([
    find(id, context),
    context.reader.recurring.findArgs(id),
  ]);
  const late = job.nextDueAt !== null && context.now() - job.nextDueAt.getTime() > LATE_MS;

  return {
    job,
    late,
    words: cronWords(job.cron),
    args: jsonTokens(redact(parseExactly(args ?? 'null'), context.redact)),
    ...nextTimes(job, new Date(context.now())),
  };
}

/** Returns the next times of a job, starting with the stored one, so that the list stays the same until that time. */
function nextTimes(job: Omit<RecurringJob, 'args'>, now: Date): { next: object[]; detail: TimeDetail } {
  const { nextDueAt, timeZone } = job;
  const times = nextDueAt === null ? [] : [nextDueAt, ...following(job, nextDueAt)];
  const detail = detailOf(times, now);
  const next = times.map((at) => ({
    at,
    there: `${timeIn(timeZone, at, detail)} ${zoneNameAt(timeZone, at)}`,
  }));
  return { next, detail };
}

/** Returns the times after `after`; none for an invalid schedule, which the page reports elsewhere. */
function following(job: Omit<RecurringJob, 'args'>, after: Date): Date[] {
  try {
    return nextOccurrences(job, NEXT_TIMES - 1, after);
  } catch {
    return [];
  }
}

async function loadRuns(id: string, { reader, redact }: PageContext): Promise<object> {
  const { jobs } = await reader.jobs.listBrief({ filter: { recurringJobId: [id] }, limit: LAST_RUNS });
  return { id, jobs: jobs.map((job) => jobLine(job, redact)) };
}

async function find(id: string, { reader }: PageContext): Promise<RecurringJob> {
  const job = await reader.recurring.find(id);
  if (job !== null) return job;
  throw notFound(
    'There is no such recurring job',
    `No recurring job has the id “${id}”. It may have been removed.`,
  );
}
