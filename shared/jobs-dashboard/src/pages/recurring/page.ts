import { compareTexts } from '@longshore/edge';
import type { Job, RecurringJob } from '@longshore/jobs';
import type { MissedRuns } from '@longshore/jobs/storage';
import { cronWords } from '../../format/cron-words.js';
import { pauseText } from '../../diagnosis/pause.js';
import type { PageContext, PageRequest } from '../page.js';
import type { Page } from '../../shell/page.js';
import { jobRow } from '../job-row.js';
import { pageOf } from '../list-page.js';

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
          const { rows, ...place } = pageOf((await reader.recurring.list()).toSorted(byNextDue), query, ROWS);
          const [last, missed] = await Promise.all([
            lastRuns(rows, reader),
            reader.recurring.listMissed(
              rows.map(({ id }) => id),
              1,
            ),
          ]);
          return { ...place, jobs: rows.map((job) => recurringRow(job, last, missed)) };
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
    words: cronWords(row.cron),
    lastState: job?.state ?? null,
    error: job === undefined || job.state === 'done' ? null : jobRow(job).error,
    missed: latest ?? null,
  };
}

function isLater(one: Date, other: Date | null): boolean {
  return other === null || one > other;
}

/** Orders recurring jobs by next due time. Jobs without a due time come last. */
function byNextDue(a: RecurringJob, b: RecurringJob): number {
  const due = ({ nextDueAt }: RecurringJob): number => nextDueAt?.getTime() ?? Number.MAX_VALUE;
  return due(a) - due(b) || compareTexts(a.id, b.id);
}
