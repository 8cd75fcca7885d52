import { columnsIn, finished, inLiveTables, type LiveTable } from '../jobs/job-columns.sql.js';
import { listedColumns } from '../jobs/job-documents.js';
import { timesIn } from '../read/sorted-jobs.sql.js';
import { type Forms, replacedBy } from './form.js';

/** SQL condition that lets each shard use an index on the queue. This is faster than reading the whole shard. */
const anyQueue = 'queue_id in (select id from longshore.queue)';

/**
 * Returns SQL that searches all tables for jobs. Each node searches its own shards.
 *
 * @param columns returns the columns to read from a table of unfinished jobs. With this parameter, only `id`,
 *   `queue_id` and `state` are read from history; without it, all columns are read from all tables
 */
const jobsWhere = (condition: string, columns?: (table: LiveTable) => string): string => `
      select ${columns === undefined ? finished : 'id, queue_id, state'} from longshore.job_history where ${condition}
      union all ${inLiveTables((table) => `select ${columns?.(table) ?? columnsIn[table]} from longshore.${table} where ${condition} and ${anyQueue}`)}`;

/**
 * SQL columns with what other tables have about a job, as `reportedOf` returns them. Requires {@link withReported}. The
 * single-node form runs a subquery for each row instead.
 */
const reported = `case when report.job_id is not null
      then json_build_object('percent', report.percent, 'message', report.message) end as progress,
    case when request.job_id is not null and found.server_id is not null and found.finished_at is null
      then json_build_object('requestedAt', request.requested_at, 'reason', request.reason) end as cancellation`;

/** Joins the FROM item `source` with what {@link reported} needs. `source` must end with the alias `found`. */
const withReported = (source: string): string => `${source} left join longshore.job_report as report
      on report.queue_id = found.queue_id and report.job_id = found.id
        and report.started_at = found.started_at and report.line = 0
      left join longshore.job_cancellation as request
      on request.queue_id = found.queue_id and request.job_id = found.id`;

/** SQL condition on a job: $1 id, $2 queue, or null if unknown. With a queue, Citus searches only one node. */
const withId = '(id = $1::uuid and ($2::integer is null or queue_id = $2::integer))';

const findJob = `
    select found.*, ${reported} from ${withReported(`(${jobsWhere(withId)}) as found`)} limit 1`;

const findDocuments = `
    select found.queue_id, found.args::text as args, coalesce(found.result::text, 'null') as result
    from (${jobsWhere(withId)}) as found limit 1`;

/**
 * Returns a statement that reads the jobs with the ids in $1, in that order. Removes duplicates, because a job that is
 * moving between nodes can be found twice.
 *
 * @param documents which of the arguments and results to include
 * @param queues {@link ofQueues} if the statement has a second parameter; empty otherwise
 */
const listed = (documents: Parameters<typeof listedColumns>[1], queues = ''): string => `
    with found as materialized (
      select ${listedColumns('found', documents)}, ${reported}
      from ${withReported(`(${jobsWhere(`id = any($1::uuid[])${queues}`)}) as found`)}
    )
    select * from (select distinct on (id) found.* from found) as found order by array_position($1::uuid[], id)`;

/**
 * SQL condition that is always true. It only declares the type of $2, the queues, which these statements do not use,
 * because they search all shards.
 */
const ofQueues = ' and $2::integer[] is not null';

/**
 * Citus forms of lookups by id. Each searches all shards once for all ids. The single-node forms search queue by queue
 * and id by id, but Citus does not support such searches.
 */
export const lookupForms: Forms = {
  'longshore-find-job': replacedBy(findJob),
  'longshore-find-documents': replacedBy(findDocuments),
  'longshore-select-job-times': replacedBy(timesIn(jobsWhere(withId))),
  'longshore-find-jobs': replacedBy(listed('all')),
  'longshore-find-bare-jobs': replacedBy(listed('none')),
  'longshore-find-small-jobs': replacedBy(listed('small', ofQueues)),
  'longshore-find-undocumented-jobs': replacedBy(listed('none', ofQueues)),
  'longshore-select-documents': replacedBy(`
    select distinct on (found.id) found.id, found.args::text as args, found.result::text as result
    from (${jobsWhere(`id = any($1::uuid[])${ofQueues}`)}) as found`),
  'longshore-size-of-jobs': replacedBy(`
    with found as materialized (
      select distinct on (id) id, octet_length(args::text) + coalesce(octet_length(result::text), 0) as bytes
      from (${jobsWhere('id = any($1::uuid[])')}) as found
    )
    select coalesce(sum(bytes), 0)::float8 as bytes from found`),
  'longshore-find-parents': replacedBy(`
    with wanted as materialized (select unnest($1::uuid[]) as id),
    job as materialized (
      select * from (${[
        ...(['job', 'job_blocked', 'job_scheduled', 'job_awaiting'] as const).map(
          (table) =>
            `select id, queue_id, '${table}' as place, null::longshore.job_state as state from longshore.${table} where id = any($1::uuid[]) and ${anyQueue}`,
        ),
        `select id, queue_id, 'job_history', state from longshore.job_history where id = any($1::uuid[])`,
      ].join(' union all ')}) as found
    ),
    batch as materialized (
      select id, case when finished_at is null then null
          when failed > 0 then 'failed' when cancelled > 0 then 'cancelled' else 'done' end::longshore.job_state as state
      from longshore.batch where id = any($1::uuid[])
    )
    select distinct on (wanted.id) wanted.id, coalesce(job.place, case when batch.id is not null then 'batch' end) as place,
      coalesce(job.queue_id, case when batch.id is not null then 0 end) as queue_id, coalesce(job.state, batch.state) as state
    from wanted left join job on job.id = wanted.id left join batch on batch.id = wanted.id`),
};
