import { type BulkAction, isId, type JobFilter, statesOfAction } from '@longshore/jobs';
import { badRequest } from '../http/problem.js';
import { type Filters, filterQuery, jobsPath, parametersOf, pinned } from '../search/filters.js';
import { filterText } from '../search/filter-text.js';
import { bulkWords, isBulkAction } from './bulk-words.js';
import { jobRow } from './job-row.js';
import { filtersOf } from './jobs.js';
import type { Page, PageContext, PageRequest } from './page.js';

const EXAMPLES = 5;
const MAX_IDS = 1_000;

/** What is asked for: some jobs by their ids, or all that match. */
interface Wanted {
  readonly action: BulkAction;
  readonly filter: JobFilter;
  /** What the form sends on. */
  readonly fields: readonly [string, string][];
  readonly back: string;
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
      fields: wanted.fields,
      back: wanted.back,
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
  const ids = query.getAll('id');
  if (ids.length > 0) {
    if (ids.length > MAX_IDS || !ids.every(isId))
      throw badRequest(
        'It is not clear which jobs are meant',
        'What was selected are no ids of jobs, or too many.',
      );
    return { action, filter: { id: ids }, fields: ids.map((id) => ['id', id]), back: 'jobs' };
  }
  if (query.has('selected'))
    throw badRequest('No job is selected', 'Go back, mark some of the rows, and try again.');
  const filters: Filters = pinned(filtersOf(query), nowMs);
  return {
    action,
    filter: filterQuery(filters, nowMs),
    fields: parametersOf(filters),
    back: jobsPath(filters),
  };
}
