import type { FailureSearchQuery } from '@longshore/jobs/storage';
import { type Distribution, prepared, type Statement } from '../connection/statement.js';
import { type Bind, conditionsOf, oneOf } from '../jobs/job-conditions.sql.js';
import { all, type Query, queryOf } from '../search/job-search.sql.js';
import { listedColumns } from '../jobs/job-documents.js';
import { existingDays } from '../search/search-history.sql.js';
import { withReports } from '../jobs/reports.sql.js';
import { finishedAs } from '../jobs/job-columns.sql.js';

// Each daily partition of failed jobs has separate indexes. Partitions are scanned from the newest to the oldest until
// the page is full.

const ofQueue = 'queue_id = $2::integer';

/** $1 limit. */
export const selectLatestFailed = latestFailed('longshore-select-latest-failed', 'true');

/** $1 limit, $2 queue. */
export const selectLatestFailedOf = latestFailed('longshore-select-latest-failed-of', ofQueue);

/** $1 limit; $2 id and $3 failure time of the job to continue after. */
export const selectEarlierFailed = latestFailed('longshore-select-earlier-failed', before('$2', '$3'));

/** $1 limit, $2 queue; $3 id and $4 failure time of the job to continue after. */
export const selectEarlierFailedOf = latestFailed(
  'longshore-select-earlier-failed-of',
  `${ofQueue} and ${before('$3', '$4')}`,
);

/**
 * Returns the SQL condition for failures earlier than the given job's, by time and id. `failedAt` has only millisecond
 * precision, so the exact time is read from the job's row. If the row is missing or has a later time, for example after
 * a retry, the end of the millisecond is used.
 */
function before(id: string, failedAt: string): string {
  const exact = `select finished_at from longshore.job_history_failed where id = ${id}::uuid limit 1`;
  return `(finished_at, id) < (least((${exact}), ${failedAt}::timestamptz + interval '1 millisecond'), ${id}::uuid)`;
}

function latestFailed(name: string, condition: string): Statement {
  const list = (reports: string): string => `
    select ${listedColumns('listed', 'brief')}${reports}
    from (
      select ${finishedAs('failed')} from longshore.job_history_failed where ${condition}
      order by finished_at desc, id desc limit $1::integer
    ) as listed
    order by finished_at desc, id desc`;
  return prepared(name, withReports.none('listed', list), withReports.citus('listed', list));
}

/** The position of a failed job in a list that is ordered by failure time and id. */
export interface FailureRow {
  id: string;
  finished_at: Date;
}

export interface FailureSearch extends FailureSearchQuery {
  readonly queueIds: readonly number[] | undefined;
  /** The current time, by the database's clock. */
  readonly now: Date;
  /** The database that the query is built for. */
  readonly distribution: Distribution;
}

const latestFirst = 'order by finished_at desc, id desc';

/** Builds a query for matching failed jobs. Examines only the latest `maxExamined` failures in the search's range. */
export function searchFailures(search: FailureSearch): Query {
  const values: unknown[] = [];
  const bind: Bind = (value) => `$${values.push(value)}`;
  const { chosen, ids, rows, error, claimed } = conditionsOf(search.filter, bind);
  const { bounds, max } = rangeOf(search, bind);
  const text = withReports[search.distribution](
    'listed',
    (reports) => `
      select ${listedColumns('listed', 'brief')}${reports}
      from (
        select ${finishedAs('failed')}
        from (select * from longshore.job_history_failed where ${bounds} ${latestFirst} limit ${max}) as examined
        where ${all([...chosen, ...ids, ...rows, ...error('error'), ...claimed])}
        ${latestFirst} limit ${bind(search.limit)}::bigint
      ) as listed
      ${latestFirst}`,
  );
  return queryOf(text, values);
}

/**
 * Builds a query for the last job that {@link searchFailures} examines, and for the job after that. If there is no
 * second row, the search examines all failed jobs in its range.
 */
export function selectLastFailures(search: FailureSearch): Query {
  const values: unknown[] = [];
  const { bounds, max } = rangeOf(search, (value) => `$${values.push(value)}`);
  return queryOf(
    `select id, finished_at from longshore.job_history_failed where ${bounds} ${latestFirst} offset ${max} - 1 limit 2`,
    values,
  );
}

function rangeOf(
  { filter, queueIds, after, maxExamined, now }: FailureSearch,
  bind: Bind,
): { bounds: string; max: string } {
  const { finished } = conditionsOf(filter, bind);
  const queues = queueIds === undefined ? [] : [oneOf('queue_id', queueIds, 'integer', bind)];
  const bound = after === undefined ? [] : [before(bind(after.id), bind(after.failedAt))];
  return {
    bounds: all([existingDays(now), ...finished, ...queues, ...bound]),
    max: `${bind(maxExamined)}::bigint`,
  };
}
