import { type BulkAction, type JobFilter, statesOfAction } from '@longshore/jobs';
import { type Selection, selectionIn } from '../actions/selection.js';
import { badRequest } from '../http/problem.js';
import { filterText } from '../search/filter-text.js';
import { bulkWords, isBulkAction } from './bulk-words.js';
import { jobRow } from './job-row.js';
import type { Page, PageContext, PageRequest } from './page.js';

const EXAMPLES = 5;

/** What is asked for. */
interface Wanted extends Selection {
  readonly action: BulkAction;
}

/** Says what an action on many jobs would do, before it does it. */
export async function bulkConfirmPage({ query }: PageRequest, context: PageContext): Promise<Page> {
  const wanted = wantedIn(query, context.now());
  const { verb } = bulkWords[wanted.action];
  return {
    title: `${verb} these jobs?`,
    section: 'jobs',
    view: 'bulk-confirm',
    data: {
      ...bulkWords[wanted.action],
      action: wanted.action,
      which: wanted.which,
      back: wanted.list,
      states: statesOfAction[wanted.action],
    },
    regions: [
      { name: 'jobs', view: 'bulk-confirm-jobs', everyMs: 5_000, load: () => loadJobs(wanted, context) },
    ],
  };
}

/** Jobs in other states are none of its business. */
async function loadJobs({ action, filter }: Wanted, { reader }: PageContext): Promise<object> {
  const { state = [] } = filter;
  const states = statesOfAction[action].filter((each) => state.length === 0 || state.includes(each));
  const text = filterText(filter);
  if (states.length === 0) return { text, count: { count: 0, exact: true }, jobs: [] };
  const narrowed: JobFilter = { ...filter, state: states };
  const [count, jobs] = await Promise.all([
    reader.countJobs(narrowed),
    reader.listJobs({ filter: narrowed, limit: EXAMPLES }),
  ]);
  return { text, count, jobs: jobs.map(jobRow) };
}

function wantedIn(query: URLSearchParams, nowMs: number): Wanted {
  const action = query.get('action') ?? '';
  if (!isBulkAction(action))
    throw badRequest('There is no such action', `“${action}” cannot be done to many jobs.`);
  return { action, ...selectionIn(query, nowMs) };
}
