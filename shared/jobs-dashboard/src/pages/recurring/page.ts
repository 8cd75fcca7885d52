import type { Job, RecurringJob } from '@longshore/jobs';
import { cronWords } from '../../format/cron-words.js';
import type { Page, PageContext, PageRequest } from '../page.js';
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
          const last = await lastRuns(rows, reader);
          return { ...place, jobs: rows.map((job) => recurringRow(job, last)) };
        },
      },
    ],
  };
}

/** Reads the latest jobs of all rows at once. Jobs that have been removed are missing. */
async function lastRuns(
  rows: readonly RecurringJob[],
  reader: PageContext['reader'],
): Promise<ReadonlyMap<string, Job>> {
  const ids = rows.flatMap(({ lastJobId }) => (lastJobId === null ? [] : [lastJobId]));
  if (ids.length === 0) return new Map();
  const { jobs } = await reader.jobs.listBrief({ filter: { id: ids }, limit: ids.length });
  return new Map(jobs.map((job) => [job.id, job]));
}

function recurringRow({ args: _args, ...row }: RecurringJob, last: ReadonlyMap<string, Job>): object {
  const { state } = last.get(row.lastJobId ?? '') ?? { state: null };
  return { ...row, words: cronWords(row.cron), lastState: state };
}

/** Sorts by the next time; paused and ended ones come last. */
function byNextDue(a: RecurringJob, b: RecurringJob): number {
  const due = ({ nextDueAt }: RecurringJob): number => nextDueAt?.getTime() ?? Number.MAX_VALUE;
  return due(a) - due(b) || a.id.localeCompare(b.id);
}
