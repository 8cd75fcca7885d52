import { type Filters, jobsPath, savedPath } from '../../search/filters.js';
import type { PageContext } from '../page.js';
import { nothing, type Region } from '../../shell/page.js';

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
