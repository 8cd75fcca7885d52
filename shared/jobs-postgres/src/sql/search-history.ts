import type { FinishedState, JobFilter } from '@longshore/jobs';
import { type Bind, isContained, type JobConditions, oneOf } from './job-conditions.js';

/**
 * Rows that are looked at, in the order of ids, before an index is asked that knows no order. What more than one job in a
 * thousand is found here.
 */
export const nearRows = 10_000;

export interface HistorySearch {
  readonly state: FinishedState;
  readonly filter: JobFilter;
  readonly conditions: JobConditions;
  /** Of the queues that the filter names; `undefined`: it names none. */
  readonly queueIds: readonly number[] | undefined;
  /** Bounds of the id besides those of the filter. */
  readonly after: readonly string[];
  readonly columns: string;
  readonly order: string;
  readonly limit: string;
  readonly bind: Bind;
}

/**
 * Finds the first finished jobs of a state in the order of ids, under 50 ms where ten million are stored (docs/adr/008).
 *
 * The planner is not asked to choose between going through the jobs in their order until the page is full, which is best
 * for what is frequent, and fetching all that match, which is best for what is rare: it takes what does not exist at all to be
 * as frequent as the average. So the nearest jobs are looked through first; the indexes are asked if that leaves the page short.
 */
export function searchHistory(search: HistorySearch): string {
  const { state, filter, conditions, queueIds, after, columns, order, limit, bind } = search;
  const bounds = [`state = '${state}'`, ...conditions.ids, ...after];
  const matches = matchesOf(search);
  const page = `${order} limit ${limit}`;
  if (matches.length === 0) return `select ${columns} from longshore.job_done where ${all(bounds)} ${page}`;
  const near = `
    select ${columns}
    from (
      select * from longshore.job_done where ${all([...bounds, ...wholeDays(filter, bind)])} ${order} limit ${nearRows}
    ) as near
    where ${all(matches)} ${page}`;
  if (isText(filter)) return near;
  const today = bind(startOfDay(new Date()));
  const wanted = (part: string): string[] => [...bounds, ...matches, part, '(select short from missing)'];
  const older = wanted(`finished_at < ${today}::timestamptz`);
  return `
    with near as materialized (${near}),
    missing as materialized (select count(*) < ${limit} as short from near)
    select * from near where not (select short from missing)
    union all
    ${fenced(columns, wanted(`finished_at >= ${today}::timestamptz`), page)}
    union all
    ${isOrdered(filter, queueIds) ? `(select ${columns} from longshore.job_done where ${all(older)} ${page})` : fenced(columns, older, page)}`;
}

/** Some finished jobs of a state, at most `limit`, in no order. */
export function countHistory(search: Omit<HistorySearch, 'after' | 'columns'>): string {
  const { state, filter, conditions, order, limit } = search;
  const bounds = all([`state = '${state}'`, ...conditions.ids]);
  const matches = matchesOf(search);
  if (!isText(filter))
    return `select 1 from longshore.job_done where ${all([bounds, ...matches])} limit ${limit}`;
  return `
    select 1 from (select * from longshore.job_done where ${bounds} ${order} limit ${nearRows}) as near
    where ${all(matches)} limit ${limit}`;
}

function matchesOf({
  conditions,
  queueIds,
  bind,
}: Pick<HistorySearch, 'conditions' | 'queueIds' | 'bind'>): string[] {
  return [
    ...(queueIds === undefined ? [] : [oneOf('queue_id', queueIds, 'integer', bind)]),
    ...conditions.rows,
    ...conditions.error('error'),
    ...conditions.claimed,
    ...conditions.finished,
  ];
}

/** `offset 0` has all that match fetched before the first ones are chosen. */
function fenced(columns: string, conditions: readonly string[], page: string): string {
  return `(
      select * from (select ${columns} from longshore.job_done where ${all(conditions)} offset 0) as matching ${page}
    )`;
}

/** Whether days that have ended have an index that gives the matches in the order of ids. */
function isOrdered(filter: JobFilter, queueIds: readonly number[] | undefined): boolean {
  return !isContained(filter) && (filter.name?.length === 1 || queueIds?.length === 1);
}

/** Whether words are sought, which may be anywhere, where no index leads: they are looked for among the nearest jobs only. */
export function isText({ q }: JobFilter): boolean {
  return q !== undefined && q.trim() !== '';
}

/** Spares the look at other days; exact bounds would have it go on for ever in the day itself. */
function wholeDays({ finishedAfter, finishedBefore }: JobFilter, bind: Bind): string[] {
  const days: string[] = [];
  if (finishedAfter !== undefined)
    days.push(`finished_at >= ${bind(startOfDay(finishedAfter))}::timestamptz`);
  if (finishedBefore !== undefined)
    days.push(`finished_at < ${bind(startOfDay(finishedBefore, 1))}::timestamptz`);
  return days;
}

/** UTC, as the partitions are. */
function startOfDay(time: Date, daysLater = 0): Date {
  return new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth(), time.getUTCDate() + daysLater));
}

function all(conditions: readonly string[]): string {
  return conditions.join(' and ');
}
