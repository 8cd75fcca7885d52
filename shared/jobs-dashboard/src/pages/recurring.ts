import type { RecurringJob } from '@longshore/jobs';
import type { Page, PageContext, PageRequest } from './page.js';
import { pageOf } from './list-page.js';

const ROWS = 100;

export async function recurringPage({ query }: PageRequest, { reader }: PageContext): Promise<Page> {
  return {
    title: 'Recurring jobs',
    section: 'recurring',
    view: 'recurring',
    regions: [
      {
        name: 'recurring',
        view: 'recurring-list',
        everyMs: 5_000,
        load: async () => {
          const { rows, ...place } = pageOf((await reader.recurring.list()).toSorted(byNextDue), query, ROWS);
          return { ...place, jobs: rows.map(({ args: _args, ...row }) => row) };
        },
      },
    ],
  };
}

/** What comes next first; what is paused or over last. */
function byNextDue(a: RecurringJob, b: RecurringJob): number {
  const due = ({ nextDueAt }: RecurringJob): number => nextDueAt?.getTime() ?? Number.MAX_VALUE;
  return due(a) - due(b) || a.id.localeCompare(b.id);
}
