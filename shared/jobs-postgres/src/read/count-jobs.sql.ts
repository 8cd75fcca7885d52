import type { JobState } from '@longshore/jobs';
import { isFinished } from '@longshore/jobs/storage';
import { unnamed } from '../connection/statement.js';
import {
  nothing,
  occupiedStates,
  type Query,
  queryOf,
  searchOf,
  type SearchScope,
  united,
} from '../search/job-search.sql.js';
import { countHistory } from '../search/search-history.sql.js';
import { searchUnfinished } from '../search/search-stages.sql.js';

/** Builds a query that counts up to `max` + 1 jobs, so that the caller can tell whether there are more than `max`. */
export function countJobs(scope: SearchScope, max: number): Query {
  const { values, limit, parts } = countedIn(scope, max);
  const counted = [...parts.values()];
  if (counted.length === 0) return { ...unnamed('select 0 as jobs'), values: [] };
  return queryOf(
    `select count(*)::integer as jobs from (select 1 from (${united(counted)}) as listed limit ${limit}) as counted`,
    values,
  );
}

/**
 * Builds a query that counts matching jobs by state, up to `max` + 1 in each. Skips states that cannot have matching
 * jobs.
 */
export function countJobsByState(scope: SearchScope, max: number): Query {
  const { values, parts } = countedIn(scope, max);
  if (parts.size === 0) return nothing;
  const counts = Array.from(
    parts,
    ([state, counted]) =>
      `select '${state}' as state, count(*)::integer as jobs from (${counted}) as counted`,
  );
  return queryOf(united(counts), values);
}

interface Counted {
  readonly values: unknown[];
  readonly limit: string;
  readonly parts: ReadonlyMap<JobState, string>;
}

function countedIn(scope: SearchScope, max: number): Counted {
  const values: unknown[] = [];
  const request = { ...scope, newestFirst: true, limit: max + 1, offset: 0, after: undefined };
  const search = searchOf(request, values, false);
  const parts = new Map<JobState, string>();
  for (const state of occupiedStates(scope)) {
    const counted = isFinished(state) ? countHistory(state, search) : searchUnfinished(state, search);
    parts.set(state, `select 1 from (${counted}) as found`);
  }
  return { values, limit: search.limit, parts };
}
