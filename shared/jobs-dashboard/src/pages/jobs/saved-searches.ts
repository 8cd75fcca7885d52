import { type Filters, filtersIn, isJobState, jobsPath } from '../../search/filters.js';
import { nothing, type PageContext, type Region } from '../page.js';

/**
 * Returns the path of the job list for a saved search. Ignores parameters that are not filters, because other programs
 * can save searches, too.
 */
export function savedPath(query: string): string {
  const { state, terms } = filtersIn(new URLSearchParams(query));
  return jobsPath({ state: state !== null && isJobState(state) ? state : null, terms });
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
