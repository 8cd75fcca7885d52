import { prepared, unprepared } from '../connection/statement.js';
import { columnsIn, finished, inLiveTables } from './job-columns.sql.js';
import { reportedOf } from './reports.sql.js';
import { isShown } from '../queues/pause.sql.js';

// Citus supports no search queue by queue and id by id. There, look-ups search all shards once for all ids.

/** SQL condition that lets each shard use an index on the queue. This is faster than reading the whole shard. */
export const anyQueue = 'queue_id in (select id from longshore.queue)';

/** Returns SQL that searches all tables for jobs. Each node searches its own shards. */
export const jobsWhere = (condition: string): string => `
      select ${finished} from longshore.job_history where ${condition}
      union all ${inLiveTables((table) => `select ${columnsIn[table]} from longshore.${table} where ${condition} and ${anyQueue}`)}`;

/**
 * SQL columns with what other tables have about a job, as `reportedOf` returns them. Requires {@link withReported}. The
 * single-node form runs a subquery for each row instead.
 */
export const reported = `case when report.job_id is not null
      then json_build_object('percent', report.percent, 'message', report.message) end as progress,
    case when request.job_id is not null and found.server_id is not null and found.finished_at is null
      then json_build_object('requestedAt', request.requested_at, 'reason', request.reason) end as cancellation`;

/** Joins the FROM item `source` with what {@link reported} needs. `source` must end with the alias `found`. */
export const withReported = (source: string): string => `${source} left join longshore.job_report as report
      on report.queue_id = found.queue_id and report.job_id = found.id
        and report.started_at = found.started_at and report.line = 0
      left join longshore.job_cancellation as request
      on request.queue_id = found.queue_id and request.job_id = found.id`;

/** SQL condition on a job: $1 id, $2 queue, or null if unknown. With a queue, Citus searches only one node. */
export const withId = '(id = $1::uuid and ($2::integer is null or queue_id = $2::integer))';

/**
 * $1 id, $2 queue, or null if unknown. Finds a job in any state. Prepared, because planning the scans of all partitions
 * takes longer than running them.
 */
export const findJob = prepared(
  'longshore-find-job',
  `select found.*, ${reportedOf('found')} from (${jobWithId('$1', '$2::integer')}) as found`,
  `
    select found.*, ${reported} from ${withReported(`(${jobsWhere(withId)}) as found`)} limit 1`,
);

export interface DocumentsRow {
  readonly queue_id: number;
  readonly args: string;
  readonly result: string;
}

/**
 * $1 id, $2 queue, or null if unknown. Reads a job's arguments and result as JSON text, which preserves all digits of
 * numbers.
 */
export const findDocuments = prepared(
  'longshore-find-documents',
  `select found.queue_id, found.args::text as args, coalesce(found.result::text, 'null') as result from (${jobWithId('$1', '$2::integer')}) as found`,
  `
    select found.queue_id, found.args::text as args, coalesce(found.result::text, 'null') as result
    from (${jobsWhere(withId)}) as found limit 1`,
);

/** $1 ids. Returns the total size of the jobs' arguments and results in bytes. */
export const sizeOfJobs = prepared(
  'longshore-size-of-jobs',
  `
  select coalesce(sum(octet_length(found.args::text) + coalesce(octet_length(found.result::text), 0)), 0)::float8 as bytes
  from unnest($1::uuid[]) as wanted (wanted_id)
  cross join lateral (${jobWithId('wanted_id')}) as found`,
  `
    with found as materialized (
      select distinct on (id) id, octet_length(args::text) + coalesce(octet_length(result::text), 0) as bytes
      from (${jobsWhere('id = any($1::uuid[])')}) as found
    )
    select coalesce(sum(bytes), 0)::float8 as bytes from found`,
);

/**
 * Returns a query for the job with this id. Searches history first, then the live tables. The live tables have no index
 * on the id alone. If the queue id is null, every queue is searched, which takes 5 ms with 1000 queues.
 */
export function jobWithId(id: string, queue = 'null::integer'): string {
  return `
  select ${finished} from longshore.job_history where id = ${id}
  union all
  select found.* from longshore.queue cross join lateral (
    ${inLiveTables((table) => `select ${columnsIn[table]} from longshore.${table} where queue_id = queue.id and id = ${id}`)}
  ) as found
  where (${queue} is null or queue.id = ${queue}) and ${isShown}
  limit 1`;
}

/**
 * $1 maximum number of rows to read from each table. Counts the ready and scheduled jobs among these rows by queue and
 * name.
 */
export const selectWaitingNames = unprepared(
  'longshore-select-waiting-names',
  `
    select queue.name as queue, waiting.name, waiting.jobs
    from (
      select queue_id, name, count(*)::integer as jobs
      from (
        (select queue_id, name from longshore.job where queue_id > 0 and server_id is null limit $1)
        union all
        (select queue_id, name from longshore.job_scheduled where queue_id > 0 limit $1)
      ) as looked_at
      group by queue_id, name
    ) as waiting
    join longshore.queue on queue.id = waiting.queue_id`,
);
