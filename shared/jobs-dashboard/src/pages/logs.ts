import type { JobState } from '@longshore/jobs';
import type { BriefJob } from '@longshore/jobs/storage';
import { filterQuery, type Filters, jobsPath, queryFilters } from '../search/filters.js';
import { searchText } from '../search/search.js';
import type { Page, PageContext, PageRequest } from '../shell/page.js';
import { logRow } from './job-log.js';

/** Maximum number of lines to show, and of jobs in each of the {@link groups} whose lines are read. */
const LINES = 200;
const JOBS = 50;

/** The states of jobs that can have a log: running, waiting for their next attempt, and finished. */
const groups: readonly (readonly JobState[])[] = [
  ['processing'],
  ['scheduled', 'enqueued'],
  ['done', 'failed', 'cancelled'],
];

/** Returns the path of the latest log lines of the jobs that match. */
export function logsPath(filters: Filters): string {
  return jobsPath(filters).replace(/^jobs/, 'logs');
}

/** Shows the latest log lines of the jobs of a list together, latest first. */
export async function logsPage({ query }: PageRequest, context: PageContext): Promise<Page> {
  const filters = queryFilters(query, context.redact);
  const words = [filters.state === null ? '' : `state:${filters.state}`, searchText(filters)];
  return {
    title: 'Logs',
    section: 'jobs',
    view: 'page',
    kicker: { path: jobsPath(filters), text: 'Jobs' },
    regions: [
      {
        name: 'logs',
        view: 'logs-list',
        everyMs: 2_000,
        load: async () => ({
          ...(await loadLines(filters, context)),
          filter: words.filter(Boolean).join(' '),
          list: jobsPath(filters),
        }),
      },
    ],
  };
}

async function loadLines(filters: Filters, context: PageContext): Promise<object> {
  const { reader, redact } = context;
  const found = await Promise.all(
    groups
      .map((states) => states.filter((state) => filters.state === null || state === filters.state))
      .filter((states) => states.length > 0)
      .map((states) => newestOf(states, filters, context)),
  );
  const jobs = found
    .flatMap((part) => part.jobs)
    .filter(({ startedAt, attempt }) => startedAt !== null || attempt > 0);
  const wanted = jobs.map(({ id, queue, createdAt }) => ({ id, queue, createdAt }));
  const lines = wanted.length === 0 ? [] : await reader.reports.listLatestLogs(wanted, LINES);
  const names = new Map(jobs.map(({ id, name }) => [id, name]));
  return {
    lines: lines.map(({ jobId, ...line }) => ({
      ...logRow(line, redact),
      id: `${jobId} ${line.id}`,
      job: { id: jobId, name: names.get(jobId) ?? '' },
    })),
    jobs: jobs.length,
    isSample: found.some(({ isSample }) => isSample),
    isFull: lines.length === LINES,
  };
}

/** Returns the newest matching jobs in these states. The search ends near the start of the list, however long that is. */
async function newestOf(
  states: readonly JobState[],
  filters: Filters,
  { reader, now, redact }: PageContext,
): Promise<{ readonly jobs: readonly BriefJob[]; readonly isSample: boolean }> {
  const filter = { ...filterQuery(filters, { nowMs: now(), redact }), state: [...states] };
  const { jobs, isComplete } = await reader.jobs.listBrief({ filter, limit: JOBS + 1, reach: 'near' });
  return { jobs: jobs.slice(0, JOBS), isSample: jobs.length > JOBS || !isComplete };
}
