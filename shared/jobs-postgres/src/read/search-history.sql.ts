import type { FinishedState, JobFilter } from '@longshore/jobs';
import { type Bind, isContained } from './job-conditions.sql.js';
import { finished } from './job-columns.sql.js';
import { all, isText, type JobSearch } from './job-search.sql.js';

/**
 * Rows that are looked at, in the order of ids, before an index is asked that knows no order. What more than one job in
 * four hundred is fills a page here.
 */
const firstRows = 20_000;

/** Where words are sought, all that are looked at. */
export const textRows = 10_000;

/** Rows of each state that are looked at for an answer at once: of a thousand, words are sought in 20 ms, all else in less than one. */
export function nearRowsOf(filter: JobFilter): number {
  return isText(filter) ? 300 : 2_000;
}

/**
 * Finds the first finished jobs of a state in the order of ids, however far back they lie (docs/adr/008).
 *
 * The planner is not asked to choose between going through the jobs in their order until the page is full, which is best
 * for what is frequent, and fetching all that match, which is best for what is rare: it takes what does not exist at all to be
 * as frequent as the average. So the nearest jobs are looked through first; the indexes are asked if that leaves the page short.
 */
export function searchHistory(state: FinishedState, search: JobSearch): string {
  const { filter, queueIds, order, limit, bind } = search;
  const bounds = boundsOf(state, search);
  const matches = search.ofHistory();
  const page = `${order} limit ${limit}`;
  if (matches.length === 0) return `select ${finished} from longshore.job_done where ${all(bounds)} ${page}`;
  if (isText(filter)) return amongFirst(state, search, textRows);
  const today = bind(startOfDay(search.now));
  const wanted = (part: string): string[] => [...bounds, ...matches, part, '(select short from missing)'];
  const older = wanted(`finished_at < ${today}::timestamptz`);
  return `
    with near as materialized (${amongFirst(state, search, firstRows)}),
    missing as materialized (select count(*) < ${limit} as short from near)
    select * from near where not (select short from missing)
    union all
    ${fenced(wanted(`finished_at >= ${today}::timestamptz`), page)}
    union all
    ${isOrdered(filter, queueIds) ? `(select ${finished} from longshore.job_done where ${all(older)} ${page})` : fenced(older, page)}`;
}

/** Those among the nearest jobs of the state. */
export function nearHistory(state: FinishedState, search: JobSearch): string {
  return amongFirst(state, search, nearRowsOf(search.filter));
}

/** Whether all that match and lie before the last of the rows of `listed`, or all that match if it is short, were looked at. */
export function isNearHistoryAll(state: FinishedState, search: JobSearch): string {
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
  const seen = all([...boundsOf(state, search), `id ${newestFirst ? '>' : '<'} ${edge}`]);
  return `(select count(*) from (select from longshore.job_done where ${seen} limit ${rows + 1}) as seen) <= ${rows}`;
}

/** Some finished jobs of a state, at most `limit`, in no order. */
export function countHistory(state: FinishedState, search: JobSearch): string {
  const { order, limit, filter } = search;
  const bounds = [
    `state = '${state}'`,
    madeDays(search.now),
    ...search.conditions.chosen,
    ...search.conditions.ids,
  ];
  const matches = search.ofHistory();
  if (!isText(filter))
    return `select 1 from longshore.job_done where ${all([...bounds, ...matches])} limit ${limit}`;
  return `
    select 1 from (select * from longshore.job_done where ${all(bounds)} ${order} limit ${textRows}) as near
    where ${all(matches)} limit ${limit}`;
}

function amongFirst(state: FinishedState, search: JobSearch, rows: number): string {
  const { order, limit } = search;
  const page = `${order} limit ${limit}`;
  const bounds = all(boundsOf(state, search));
  const matches = search.ofHistory();
  if (matches.length === 0) return `select ${finished} from longshore.job_done where ${bounds} ${page}`;
  return `
    select ${finished}
    from (select * from longshore.job_done where ${bounds} ${order} limit ${rows}) as first
    where ${all(matches)} ${page}`;
}

function boundsOf(state: FinishedState, { filter, conditions, after, now, bind }: JobSearch): string[] {
  return [
    `state = '${state}'`,
    madeDays(now),
    ...conditions.chosen,
    ...conditions.ids,
    ...after,
    ...wholeDays(filter, bind),
  ];
}

/** `offset 0` has all that match fetched before the first ones are chosen. */
function fenced(conditions: readonly string[], page: string): string {
  return `(
      select * from (select ${finished} from longshore.job_done where ${all(conditions)} offset 0) as matching ${page}
    )`;
}

/** Whether days that have ended have an index that gives the matches in the order of ids. */
function isOrdered(filter: JobFilter, queueIds: readonly number[] | undefined): boolean {
  return !isContained(filter) && (filter.name?.length === 1 || queueIds?.length === 1);
}

// History is partitioned by the days (UTC) on which jobs ended.

/** There are partitions for days to come, and to plan for a partition takes as long as to look into it. A constant, for plans that know no values. `now` by the database's clock. */
export function madeDays(now: Date): string {
  return `finished_at < '${startOfDay(now, 2).toISOString()}'::timestamptz`;
}

/** Spares the look at other days; exact bounds would have it go on for ever in the day itself. */
export function wholeDays({ finishedAfter, finishedBefore }: JobFilter, bind: Bind): string[] {
  const days: string[] = [];
  if (finishedAfter !== undefined)
    days.push(`finished_at >= ${bind(startOfDay(finishedAfter))}::timestamptz`);
  if (finishedBefore !== undefined)
    days.push(`finished_at < ${bind(startOfDay(finishedBefore, 1))}::timestamptz`);
  return days;
}

/** UTC, as the partitions are. */
export function startOfDay(time: Date, daysLater = 0): Date {
  return new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth(), time.getUTCDate() + daysLater));
}
