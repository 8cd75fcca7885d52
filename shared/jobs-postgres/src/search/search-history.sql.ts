import { type FinishedState, isFinished, type JobFilter } from '@longshore/jobs/storage';
import { type Bind, isContained, statesOf } from '../jobs/job-conditions.sql.js';
import { finishedAs } from '../jobs/job-columns.sql.js';
import {
  all,
  isText,
  type JobSearch,
  type ListRequest,
  nothing,
  type Query,
  queryOf,
  searchOf,
  united,
} from './job-search.sql.js';

/**
 * Number of rows to scan in the order of ids before any other index is used. If one job in 400 matches, these rows
 * contain about 50 matches: enough for a page.
 */
export const firstRows = 20_000;

/** Maximum number of rows of each table that are searched for words. */
export const textRows = 10_000;

/**
 * Returns how many rows of each table are searched for an immediate answer. Searching a thousand rows for words takes
 * 20 ms; checking the other conditions takes less than 1 ms.
 */
export function nearRowsOf(filter: JobFilter): number {
  return isText(filter) ? 300 : 2_000;
}

/**
 * Builds the search for the first finished jobs of a state in the order of ids (docs/adr/008). Covers all of history,
 * but a search for words covers only the first {@link textRows} jobs.
 *
 * Scans the first jobs in order, which is fast for frequent matches. If these jobs do not fill the page, uses the other
 * indexes, which are fast for rare matches. The planner cannot make this choice, because it assumes an average
 * frequency for a value without statistics.
 */
export function searchHistory(state: FinishedState, search: JobSearch): string {
  const { filter, queueIds, order, limit, bind } = search;
  const bounds = boundsOf(search);
  const matches = search.ofHistory();
  const page = `${order} limit ${limit}`;
  if (matches.length === 0)
    return `select ${finishedAs(state)} from longshore.job_history_${state} where ${all(bounds)} ${page}`;
  if (isText(filter)) return amongFirst(state, search, textRows);
  const today = bind(startOfDay(search.now));
  const wanted = (part: string): string[] => [...bounds, ...matches, part, '(select short from missing)'];
  const older = wanted(`finished_at < ${today}::timestamptz`);
  return `
    with near as materialized (${amongFirst(state, search, firstRows)}),
    missing as materialized (select count(*) < ${limit} as short from near)
    select * from near where not (select short from missing)
    union all
    ${fenced(state, wanted(`finished_at >= ${today}::timestamptz`), page)}
    union all
    ${isOrdered(filter, queueIds) ? `(select ${finishedAs(state)} from longshore.job_history_${state} where ${all(older)} ${page})` : fenced(state, older, page)}`;
}

/** Returns the query that searches only the first {@link nearRowsOf} finished jobs of a state, in the list's order. */
export function nearHistory(state: FinishedState, search: JobSearch): string {
  return amongFirst(state, search, nearRowsOf(search.filter));
}

/**
 * Returns an SQL condition that is true if {@link nearHistory} reads every job of the state that could be on the page.
 * If the CTE `listed` contains a full page, these are the jobs before its last row; otherwise, all jobs of the state.
 */
export function coversHistory(state: FinishedState, search: JobSearch): string {
  const { filter, newestFirst, limit } = search;
  if (search.ofHistory().length === 0) return 'true';
  const rows = nearRowsOf(filter);
  const [end, last] = newestFirst
    ? ['00000000-0000-0000-0000-000000000000', 'asc']
    : ['ffffffff-ffff-ffff-ffff-ffffffffffff', 'desc'];
  const edge = `(
    select case when (select count(*) from listed) < ${limit} then '${end}'::uuid
      else (select id from listed order by id ${last} limit 1) end
  )`;
  const seen = all([...boundsOf(search), `id ${newestFirst ? '>' : '<'} ${edge}`]);
  return `(select count(*) from (select 1 from longshore.job_history_${state} where ${seen} limit ${rows + 1}) as seen) <= ${rows}`;
}

/**
 * Builds a query that returns one row for each matching finished job of a state, up to the limit. The caller counts
 * these rows. A search for words covers only the first {@link textRows} jobs.
 */
export function countHistory(state: FinishedState, search: JobSearch): string {
  const { order, limit, filter } = search;
  const bounds = boundsOf(search);
  const matches = search.ofHistory();
  if (!isText(filter))
    return `select 1 from longshore.job_history_${state} where ${all([...bounds, ...matches])} limit ${limit}`;
  return `
    select 1 from (select * from longshore.job_history_${state} where ${all(bounds)} ${order} limit ${textRows}) as near
    where ${all(matches)} limit ${limit}`;
}

function amongFirst(state: FinishedState, search: JobSearch, rows: number): string {
  const { order, limit } = search;
  const page = `${order} limit ${limit}`;
  const bounds = all(boundsOf(search));
  const matches = search.ofHistory();
  if (matches.length === 0)
    return `select ${finishedAs(state)} from longshore.job_history_${state} where ${bounds} ${page}`;
  return `
    select ${finishedAs(state)}
    from (select * from longshore.job_history_${state} where ${bounds} ${order} limit ${rows}) as first
    where ${all(matches)} ${page}`;
}

/** Returns the conditions on the ids and days of the finished jobs to read. */
export function boundsOf({ filter, conditions, after, now, bind }: JobSearch): string[] {
  return [existingDays(now), ...conditions.chosen, ...conditions.ids, ...after, ...dayBounds(filter, bind)];
}

/**
 * Builds a search that fetches all matches before it sorts and limits them. `offset 0` keeps Postgres from scanning the
 * rows in the order of ids until the page is full, which is slow if matches are rare.
 */
export function fenced(state: FinishedState, conditions: readonly string[], page: string): string {
  return `(
      select * from (select ${finishedAs(state)} from longshore.job_history_${state} where ${all(conditions)} offset 0) as matching ${page}
    )`;
}

/** Returns whether the partitions of past days have an index that yields the matches in the order of ids. */
function isOrdered(filter: JobFilter, queueIds: readonly number[] | undefined): boolean {
  return !isContained(filter) && (filter.name?.length === 1 || queueIds?.length === 1);
}

// History is partitioned by the UTC day on which a job ended.

/**
 * Returns a condition that excludes the partitions of days after tomorrow, because planning the scan of a partition
 * takes as long as the scan. The day is a constant in the SQL, because generic plans do not know the values of
 * parameters.
 *
 * @param now the current time, by the database's clock
 */
export function existingDays(now: Date): string {
  return `finished_at < '${startOfDay(now, 2).toISOString()}'::timestamptz`;
}

/**
 * Returns conditions that exclude the days before and after the filter's times, but only whole days. With exact times,
 * a scan for the first n jobs would read a day to its end if fewer than n of its jobs are in the time range. The exact
 * times are checked separately.
 */
export function dayBounds({ finishedAfter, finishedBefore, startedAfter }: JobFilter, bind: Bind): string[] {
  const days: string[] = [];
  if (startedAfter !== undefined) days.push(`finished_at >= ${bind(startOfDay(startedAfter))}::timestamptz`);
  if (finishedAfter !== undefined)
    days.push(`finished_at >= ${bind(startOfDay(finishedAfter))}::timestamptz`);
  if (finishedBefore !== undefined)
    days.push(`finished_at < ${bind(startOfDay(finishedBefore, 1))}::timestamptz`);
  return days;
}

/** Returns the start of the UTC day that contains `time`, or of the day that is `daysLater` days later. */
export function startOfDay(time: Date, daysLater = 0): Date {
  return new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth(), time.getUTCDate() + daysLater));
}

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
