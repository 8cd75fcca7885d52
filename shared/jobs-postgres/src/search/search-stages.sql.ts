import type { JobState } from '@longshore/jobs';
import type { FinishedState, JobFilter } from '@longshore/jobs/storage';
import type { Forms } from '../connection/statement.js';
import { conditionsOf } from '../jobs/job-conditions.sql.js';
import { blocked, lastError, ready, running, waiting } from '../jobs/job-columns.sql.js';
import { all, type QueuesWithJobs, isText, type JobSearch } from './job-search.sql.js';
import { textRows } from './search-history.sql.js';

/** The SQL parts and limits of a search among unfinished jobs. */
interface QueueSearch {
  /** SQL expression for the ids of the queues that have jobs in the searched state. */
  readonly queues: string;
  readonly bounds: readonly string[];
  /** Conditions that can only be checked by reading the rows. */
  readonly contents: readonly string[];
  /** The end of the query: `order by`, if the search is sorted, and `limit`. */
  readonly page: string;
  /** Maximum number of rows read from each table; `null` for no limit. */
  readonly maxRows: number | null;
  /** Maximum number of rows of each queue that are searched for words. */
  readonly ofQueue: number;
}

/** The smallest and the largest id (RFC 9562, 5.9 and 5.10). */
const nilId = '00000000-0000-0000-0000-000000000000';
const maxId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/**
 * A FROM item for the queues in an array, of which a lateral subquery searches each. On Citus, it is a distributed table,
 * so that each node searches the queues that it stores.
 */
export const queuesOf: Forms<(ids: string) => string> = {
  none: (ids) => `unnest(${ids}) as queue (id)`,
  citus: (ids) => `(select queue_id as id from longshore.queue_node where queue_id = any(${ids})) as queue`,
};

/** If at most this many queues have ready or blocked jobs, up to a full page is read from each of them. */
const fewQueues = 20;

/**
 * Builds the search for jobs in an unfinished state. Ids are indexed only within each queue, so most searches run once
 * for each queue.
 *
 * @param maxRows maximum number of rows to read from each table, in any order, if the filter can only be checked by
 *   reading rows; no limit by default
 */
export function searchUnfinished(
  state: Exclude<JobState, FinishedState>,
  search: JobSearch,
  maxRows: number | null = null,
): string {
  const { conditions, after, order, sorted, limit, bind, holding } = search;
  const lines: QueueSearch = {
    queues: `${bind(holding(state).ids)}::integer[]`,
    bounds: [...conditions.ids, ...after],
    contents: [...conditions.chosen, ...conditions.rows, ...conditions.error(lastError)],
    page: `${sorted ? order : ''} limit ${limit}`,
    maxRows,
    ofQueue: rowsOfQueue(holding(state)),
  };
  switch (state) {
    case 'scheduled':
      return searchTable('job_scheduled', waiting(state), search, lines);
    case 'awaiting':
      return searchTable('job_awaiting', waiting(state), search, lines);
    case 'enqueued':
      return searchReady(search, lines);
    case 'processing': {
      const wanted = all([...lines.bounds, ...lines.contents, ...conditions.claimed]);
      return eachQueue(
        `select ${ready(`'${state}'::longshore.job_state`)} from (${running[search.distribution]}) as running where ${wanted} ${lines.page}`,
        lines.queues,
        search,
      );
    }
  }
}

function searchTable(table: string, columns: string, search: JobSearch, lines: QueueSearch): string {
  const { queues, bounds, contents, page } = lines;
  if (isBounded(search, lines) && contents.length > 0)
    return `select ${columns} from ${rowsOf(table, [], search, lines)} ${page}`;
  const wanted = all(['queue_id = queue.id', ...bounds, ...contents]);
  return eachQueue(`select ${columns} from longshore.${table} where ${wanted} ${page}`, queues, search);
}

/**
 * Builds the search for ready and blocked jobs. If more than {@link fewQueues} queues have such jobs, the query depends
 * on the filter. The times are for a thousand queues and 100,000 jobs.
 *
 * - If the filter can only be checked by reading rows, a single query for all queues takes 39 ms. One query per queue
 *   would take 185 ms in total. A single query is also used if the order does not matter.
 * - Otherwise, the first job of each queue is read, which takes 7 ms. The queues are sorted by these jobs. If the page
 *   has n rows, only the first n queues can contribute to the page, and only these are read. Reading a page from every
 *   queue would take 93 ms.
 *
 * A search that checks only a limited number of rows uses a single query for any number of queues.
 */
function searchReady(search: JobSearch, lines: QueueSearch): string {
  const { order, newestFirst, limit, sorted, holding, distribution } = search;
  const { queues, bounds, contents, page } = lines;
  const isFew = holding('enqueued').queues <= fewQueues;
  if (contents.length > 0 ? isBounded(search, lines) || !isFew : !sorted && !isFew) {
    return `
    (select ${ready(`'enqueued'::longshore.job_state`)} from ${rowsOf('job', ['server_id is null'], search, lines)} ${page})
    union all
    (select ${blocked} from ${rowsOf('job_blocked', [], search, lines)} ${page})`;
  }
  const ofQueue = ['queue_id = queue.id', ...bounds, ...contents];
  const ofQueueTables = (
    jobColumns: string,
    blockedColumns: string,
    wanted: string,
    some: string,
  ): string => `
    (select ${jobColumns} from longshore.job where server_id is null and ${wanted} ${some})
    union all
    (select ${blockedColumns} from longshore.job_blocked where ${wanted} ${some})`;
  if (isFew)
    return eachQueue(
      ofQueueTables(ready(`'enqueued'::longshore.job_state`), blocked, all(ofQueue), page),
      queues,
      search,
    );
  const front = `
    select line.id, queue.id as queue_id from ${queuesOf[distribution](queues)}
    cross join lateral (${ofQueueTables('id', 'id', all(ofQueue), `${order} limit 1`)}) as line
    ${page}`;
  const last = `(select id from front ${order} offset ${limit} - 1 limit 1)`;
  const reached = newestFirst
    ? `id >= coalesce(${last}, '${nilId}'::uuid)`
    : `id <= coalesce(${last}, '${maxId}'::uuid)`;
  return `
    with front as materialized (${front})
    ${eachQueue(ofQueueTables(ready(`'enqueued'::longshore.job_state`), blocked, all([...ofQueue, reached]), page), 'array(select queue_id from front group by queue_id)', search)}`;
}

/**
 * Returns whether the search reads only a limited number of rows: because `maxRows` is set, or because it searches for
 * words, which no index supports.
 */
function isBounded({ filter }: JobSearch, { maxRows }: QueueSearch): boolean {
  return maxRows !== null || isText(filter);
}

/** Returns whether the rows of unfinished jobs must be read to find the jobs that match the filter. */
export function needsRows(filter: JobFilter): boolean {
  const { chosen, rows, error } = conditionsOf(filter, () => '');
  return [...chosen, ...rows, ...error('')].length > 0;
}

/**
 * Returns the `from` clause, without the word `from`, and the `where` clause for the matching rows of a table in all
 * searched queues.
 */
function rowsOf(
  table: string,
  tableConditions: readonly string[],
  search: JobSearch,
  lines: QueueSearch,
): string {
  const { queues, bounds, contents, maxRows, ofQueue } = lines;
  const within = all([...tableConditions, `queue_id = any(${queues})`, ...bounds]);
  if (maxRows !== null)
    return `(select * from longshore.${table} where ${within} limit ${maxRows}) as looked_at where ${all(contents)}`;
  if (isText(search.filter))
    return `(${nearestRows(table, [...tableConditions, ...bounds], { ...search, queues, ofQueue })}) as near where ${all(contents)}`;
  return `longshore.${table} where ${within} and ${all(contents)}`;
}

/**
 * A search for words reads about this many rows of a table, split evenly among the queues. It reads at least
 * `minOfQueue` rows of each queue.
 */
const readRows = 40_000;
const minOfQueue = 20;

/** Returns how many rows of each queue a search for words reads. */
export function rowsOfQueue({ queues }: QueuesWithJobs): number {
  return Math.min(textRows, Math.max(minOfQueue, Math.ceil(readRows / Math.max(1, queues))));
}

/**
 * Returns a query for the rows that are searched for words. Takes the first rows of each queue in the given order, and
 * keeps the first {@link textRows} of these.
 */
export function nearestRows(
  table: string,
  conditions: readonly string[],
  {
    queues,
    ofQueue,
    order,
    distribution,
  }: Pick<QueueSearch, 'queues' | 'ofQueue'> & Pick<JobSearch, 'order' | 'distribution'>,
): string {
  const wanted = all(['queue_id = queue.id', ...conditions]);
  const rows = `select * from longshore.${table} where ${wanted} ${order} limit ${ofQueue}`;
  return `select line.* from ${queuesOf[distribution](queues)} cross join lateral (${rows}) as line ${order} limit ${textRows}`;
}

/** Returns SQL that runs `part`, a subquery that refers to `queue.id`, for each of the queues. */
export function eachQueue(
  part: string,
  queues: string,
  { distribution }: Pick<JobSearch, 'distribution'>,
): string {
  return `select part.* from ${queuesOf[distribution](queues)} cross join lateral (${part}) as part`;
}
