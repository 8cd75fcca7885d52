import { isFinished } from '@longshore/jobs/storage';
import { createHash } from 'node:crypto';
import { statesOf } from '../jobs/job-conditions.sql.js';
import { withReports } from '../jobs/reports.sql.js';
import {
  all,
  type ListRequest,
  nothing,
  occupiedStates,
  type Query,
  queryOf,
  searchOf,
  type SearchScope,
  united,
} from '../search/job-search.sql.js';
import {
  countHistory,
  coversHistory,
  nearHistory,
  nearRowsOf,
  searchHistory,
} from '../search/search-history.sql.js';
import { listedColumns, type ListedDocuments } from '../jobs/job-documents.js';
import { needsRows, searchUnfinished } from '../search/search-stages.sql.js';
import type { JobState } from '@longshore/jobs';
import { unnamed } from '../connection/statement.js';

/** Builds the query for a list of jobs. Ids are UUIDv7, so ordering by id orders jobs by creation time. */
export function listJobs(request: ListRequest, documents: ListedDocuments = 'all'): Query {
  const values: unknown[] = [];
  const search = searchOf(request, values);
  const states = occupiedStates(request);
  if (states.length === 0) return nothing;
  const parts = states.map((state) =>
    isFinished(state) ? searchHistory(state, search) : searchUnfinished(state, search),
  );
  const { order, limit } = search;
  const offset = search.bind(request.offset);
  const text = withReports[request.distribution](
    'listed',
    (reports) => `
      select ${listedColumns('listed', documents)}${reports}
      from (select * from (${united(parts)}) as listed ${order} limit ${limit} offset ${offset}) as listed
      ${order}`,
  );
  return queryOf(text, values);
}

/**
 * Builds a fast query that searches a limited number of jobs of each state ({@link nearRowsOf}).
 *
 * The column `complete` is true if the searched jobs include every finished job that belongs on the page. If no job
 * matches, the query returns a single row in which only `complete` is set. If no state can have matching jobs, it
 * returns no row.
 *
 * Up to 100 different statements a day are prepared, because planning takes longer than running.
 */
export function listNearJobs(request: ListRequest, documents: ListedDocuments = 'all'): Query {
  const values: unknown[] = [];
  const search = searchOf(request, values);
  const states = occupiedStates(request);
  if (states.length === 0) return nothing;
  const maxRows = nearRowsOf(request.filter);
  const parts = states.map((state) =>
    isFinished(state) ? nearHistory(state, search) : searchUnfinished(state, search, maxRows),
  );
  const { order, limit } = search;
  const offset = search.bind(request.offset);
  const complete = states.filter(isFinished).map((state) => coversHistory(state, search));
  const text = withReports[request.distribution](
    'shown',
    (reports) => `
    with listed as materialized (select * from (${united(parts)}) as listed ${order} limit ${limit})
    select ${all(complete)} as complete, ${listedColumns('shown', documents)}${reports}
    from (select 1) as one
    left join (select * from listed ${order} offset ${offset}) as shown on true
    ${order}`,
  );
  const query = queryOf(text, values);
  return { ...nameOf(query.text, request.now), ...query };
}

/** Returns whether {@link listNearJobs} searches all unfinished jobs rather than a limited number of them. */
export function coversUnfinished({ filter, holding }: SearchScope): boolean {
  const maxRows = nearRowsOf(filter);
  if (!needsRows(filter)) return true;
  return statesOf(filter).every(
    (state) => isFinished(state) || state === 'processing' || holding(state).jobs <= maxRows,
  );
}

const maxNamed = 100;

/**
 * Names of the statements prepared today. The texts contain the date, so statements of earlier days are never used
 * again.
 */
const named = { day: '', names: new Set<string>() };

/**
 * Returns the name under which to prepare the text. Returns no name for a new text if 100 statements have been prepared
 * today, because every connection keeps all of their plans.
 */
function nameOf(text: string, now: Date): { name?: string } {
  const day = now.toISOString().slice(0, 10);
  if (named.day !== day) Object.assign(named, { day, names: new Set() });
  const name = `longshore-list-${createHash('sha1').update(text).digest('base64url')}`;
  if (!named.names.has(name) && named.names.size >= maxNamed) return {};
  named.names.add(name);
  return { name };
}

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
