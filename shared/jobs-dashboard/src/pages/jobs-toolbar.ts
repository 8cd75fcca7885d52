import type { JobState } from '@longshore/jobs';
import { bulkActions, type JobCount, jobStates, statesOfAction } from '@longshore/jobs/storage';
import { bulkWords } from '../actions/bulk-words.js';
import { formatCount } from '../format/count.js';
import { confirmPath, type Filters, jobsPath, savedPath } from '../search/filters.js';
import { nothing, type PageContext, type Region } from '../shell/page.js';

interface Offer {
  /** The label of the link, such as `Retry all 43`. */
  readonly words: string;
  /** Whether the action requires the role `admin`. */
  readonly admin: boolean;
  readonly path: string;
}

/** The toolbar above the list of jobs. It shows how many jobs match, and the bulk actions for them. */
interface JobsToolbar {
  readonly narrowed: boolean;
  /** Number of matching jobs; `null` while unknown. */
  readonly total: JobCount | null;
  readonly offers: readonly Offer[];
}

/**
 * Returns the toolbar. It offers bulk actions only if there is a filter, and omits those that would apply to no
 * matching job.
 *
 * @param counts the number of matching jobs in each state; `undefined` while unknown
 */
export function jobsToolbar(
  filters: Filters,
  counts: Readonly<Record<JobState, JobCount>> | undefined,
): JobsToolbar {
  const { state, terms } = filters;
  const narrowed = state !== null || terms.length > 0;
  const shown = state === null ? jobStates : [state];
  const countIn = (states: readonly JobState[]): JobCount | null => {
    const fitting = states.filter((jobState) => shown.includes(jobState));
    return counts === undefined && fitting.length > 0
      ? null
      : sum(fitting.flatMap((jobState) => counts?.[jobState] ?? []));
  };
  const offers = bulkActions.flatMap((action) => {
    const count = countIn(statesOfAction[action]);
    if (count?.count === 0) return [];
    return {
      words: bulkWords[action].ofJobs(count === null ? 'all that match' : `all ${formatCount(count)}`),
      admin: action === 'delete',
      path: confirmPath(filters, action),
    };
  });
  return { narrowed, total: countIn(shown), offers: narrowed ? offers : [] };
}

export function sum(counts: readonly JobCount[]): JobCount {
  return {
    count: counts.reduce((total, { count }) => total + count, 0),
    exact: counts.every(({ exact }) => exact),
  };
}

/** Creates the region with links to the saved searches and the form that saves the current search. */
export function savedSearchesRegion(filters: Filters, { reader }: PageContext): Region {
  const current = jobsPath(filters).slice('jobs?'.length);
  return {
    name: 'saved',
    view: 'jobs-saved',
    everyMs: 30_000,
    load: async () => {
      const searches = (await reader.savedSearches.list()).map(({ name, query, savedBy }) => ({
        name,
        savedBy,
        path: savedPath(query),
        current: savedPath(query) === jobsPath(filters),
      }));
      return searches.length === 0 && current === '' ? nothing : { searches, search: current };
    },
  };
}
