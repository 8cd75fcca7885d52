import { createdPage, firstEntries, startedPage } from '../read/feed.sql.js';
import { maxSwept } from '../jobs/ready-scans.sql.js';
import { pausedTypes } from '../queues/pause.sql.js';
import { withReplacements, type Forms, replacedBy } from './form.js';

// On Citus, no snapshot shows which transactions have ended on all nodes, so there is no commit horizon. Polls for due
// jobs, and scans that would start at the floor of a cursor, therefore start at the head of the queue. CTEs named
// `given` only declare the types of unused parameters.

/** Replaces the expressions that depend on the commit horizon. */
const noHorizon = [
  ['job_seq.last_value as seq', "'0'::text as seq"],
  [
    /case when job_seq\.last_value > \$3::bigint then pg_current_xact_id\(\)::text end/,
    'case when $3::bigint is null then null::text end',
  ],
] as const;

/**
 * Returns a CTE with the job names that a server handles, and with the paused job names.
 *
 * @param server the parameter with the server's id, for example `$2`
 */
const names = (server: string): string => `
    names as materialized (
      select job_names as handled, array(${pausedTypes}) as paused from longshore.server where id = ${server}
    )`;

/** SQL condition on a job: it is ready, and the server in {@link names} can run it. */
const isRunnable = `job.server_id is null and coalesce(job.name = any ((select handled from names)::text[]), true)
          and job.name <> all ((select paused from names)::text[])`;

const pollReady = withReplacements(
  ...noHorizon,
  [
    'with closed as',
    `with given as (select $6::smallint[], $7::bigint[], $8::bigint[]), ${names('$4')},
    ready as materialized (
      select node.queue_id
      from longshore.queue_node as node
      cross join lateral (select 1 from longshore.job where job.queue_id = node.queue_id and ${isRunnable} limit 1) as first
      where node.queue_id = any($5::integer[])
    ),
    closed as`,
  ],
  [
    /array\(\s+select distinct range\.queue_id[\s\S]*?\) as first\s+\) as ready/,
    'array(select ready.queue_id from ready) as ready',
  ],
);

const sweepReady = `
    with ${names('$2')}
    select node.queue_id, first.priority, first.seq
    from longshore.queue_node as node
    cross join lateral (
      select job.priority, job.seq from longshore.job where job.queue_id = node.queue_id and ${isRunnable}
      order by job.priority, job.seq limit ${maxSwept}
    ) as first
    where node.queue_id = any($1::integer[])`;

const nextDue = `
    with given as (select $1::timestamptz, $2::integer[], $3::timestamptz[], $4::xid8[], $5::timestamptz[], $6::boolean),
    first as materialized (
      select node.queue_id as id, first.run_at
      from longshore.queue_node as node
      cross join lateral (
        select run_at from longshore.job_scheduled where job_scheduled.queue_id = node.queue_id order by run_at limit 1
      ) as first
    )
    select pg_current_snapshot()::text as snapshot, now()::text as at, null::text as mark, next.*
    from (values (1)) as one left join (
      select first.id, first.run_at,
        extract(epoch from least(greatest(first.run_at, now() - interval '1 day'), now() + interval '1 day') - now())::float8 * 1000 as due_in,
        case when first.run_at <= now() then first.run_at::text end as due_at
      from first
    ) as next on true
    order by next.run_at`;

const headColumns = `queue.id, first.priority, first.seq, (extract(epoch from first.ready_at) * 1000)::float8 as ready_at,
      case when row_number() over () = 1 then pg_current_snapshot()::text end as snapshot, 0::bigint as last, null::text as mark`;

/**
 * Returns a statement that reads the first ready job of each priority, in queue $1 or, if $1 is null, in every queue.
 *
 * @param given CTEs that precede the others, each followed by a comma
 */
const heads = (given: string): string => `
    with ${given}first as materialized (
      select distinct on (job.queue_id, job.priority) job.queue_id, job.priority, job.seq, job.ready_at
      from longshore.job
      where job.queue_id in (select queue_id from longshore.queue_node) and ($1::integer is null or job.queue_id = $1) and server_id is null
      order by job.queue_id, job.priority, job.seq
    ),
    queue as materialized (
      select id from longshore.queue where ($1::integer is null or id = $1)
    )
    select ${headColumns} from queue left join first on first.queue_id = queue.id`;

/**
 * Reads the jobs that started in a given period and are still running. Unlike the single-node form, cannot stop after
 * the last running job of each queue, because it does not read the number of running jobs.
 */
const started = `
    select ${startedPage.columns} from longshore.job
    where queue_id in (select queue_id from longshore.queue_node) and server_id is not null
        and ${startedPage.condition}
    ${firstEntries}`;

const isOnNode = 'and queue_id in (select queue_id from longshore.queue_node)';

const created = `
    select job.* from (${[
      createdPage('job', 'enqueued', `${isOnNode} and server_id is null`),
      createdPage('job_blocked', 'enqueued', isOnNode),
      createdPage('job_scheduled', 'scheduled', isOnNode),
      createdPage('job_awaiting', 'awaiting', isOnNode),
    ].join(' union all ')}
    ) as job
    ${firstEntries}`;

/**
 * Reads the time before which no new events are expected. Considers all open transactions, even those without an id. A
 * transaction that writes only on other nodes gets no id on the coordinator. Also considers transactions that have been
 * committed but are not visible on all nodes yet.
 *
 * For the same reasons, a snapshot would not show whether anything has been written. The column `snapshot` therefore
 * contains the current time, and differs on every call.
 */
const settledUpTo = `
    select clock_timestamp()::text as snapshot,
      least(now(), longshore.oldest_prepared() - interval '1 minute', min(case
        when application_name like 'longshore%' then xact_start
        else greatest(xact_start, now() - interval '1 minute')
      end)) - interval '500 milliseconds' as settled
    from pg_stat_get_activity(null)
    where datid = (select oid from pg_catalog.pg_database where datname = current_database())
      and pid <> pg_backend_pid() and xact_start is not null and backend_type = 'client backend'`;

/** Citus forms of the scan statements. Each node scans the queues that it stores. */
export const scanForms: Forms = {
  'longshore-scan-state': withReplacements(...noHorizon),
  'longshore-poll-ready': pollReady,
  'longshore-sweep-ready': replacedBy(sweepReady),
  'longshore-next-due': replacedBy(nextDue),
  'longshore-settled-up-to': replacedBy(settledUpTo),
  'longshore-select-heads': replacedBy(heads('')),
  'longshore-select-heads-from': replacedBy(heads('given as (select $2::jsonb), ')),
  'longshore-select-started': replacedBy(started),
  'longshore-select-created': replacedBy(created),
};
