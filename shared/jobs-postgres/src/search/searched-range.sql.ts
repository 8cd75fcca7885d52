import { isFinished } from '@longshore/jobs/storage';
import { statesOf } from '../jobs/job-conditions.sql.js';
import { all, type ListRequest, nothing, type Query, queryOf, searchOf, united } from './job-search.sql.js';
import { boundsOf, textRows } from './search-history.sql.js';

/**
 * Builds a query that returns a row per finished state: the last job that a search for words covers. A state has no row
 * if the search covers all of its jobs.
 */
export function selectLastSearched(request: ListRequest): Query {
  const values: unknown[] = [];
  const search = searchOf(request, values);
  const parts = statesOf(request.filter)
    .filter(isFinished)
    .map((state) => {
      const ids = `select id from longshore.job_history_${state} where ${all(boundsOf(search))} ${search.order}`;
      return `
        select '${state}' as state, (array_agg(id ${search.order}))[1] as id
        from (${ids} offset ${textRows - 1} limit 2) as last having count(*) = 2`;
    });
  return parts.length === 0 ? nothing : queryOf(united(parts), values);
}
