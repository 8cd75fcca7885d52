import { limitOf } from '../dependencies/concurrency-semaphore.sql.js';
import { maxKeys } from '../dependencies/blocking-keys.sql.js';
import { reportedOf } from '../jobs/reports.sql.js';
import { withReplacements, type Form, type Forms, replacedBy } from './form.js';

/**
 * Returns the Citus form of a job list. The form selects the jobs, and then joins what other tables have about all of
 * them. The single-node form instead has a subquery for each row.
 *
 * @param alias alias of the list in the single-node form
 */
export function withReports(alias: string): Form {
  const reported = `, ${reportedOf(alias)}`;
  return (usual) => {
    if (!usual.includes(reported)) throw new Error(`A form for Citus expects the progress of ${alias}`);
    return `
    with found as materialized (
      select found.*, row_number() over () as place from (${usual.replace(reported, '')}) as found
    ),
    wanted as materialized (
      select found.queue_id, found.id, found.started_at from found where found.started_at is not null
    ),
    reports as materialized (
      select report.job_id, report.percent, report.message
      from longshore.job_report as report join wanted
        on report.queue_id = wanted.queue_id and report.job_id = wanted.id and report.started_at = wanted.started_at
      where report.line = 0
    ),
    running as materialized (
      select found.queue_id, found.id from found where found.server_id is not null and found.finished_at is null
    ),
    requests as materialized (
      select request.job_id, request.requested_at, request.reason
      from longshore.job_cancellation as request join running
        on request.queue_id = running.queue_id and request.job_id = running.id
    )
    select found.*, case when reports.job_id is not null
        then json_build_object('percent', reports.percent, 'message', reports.message) end as progress,
      case when requests.job_id is not null
        then json_build_object('requestedAt', requests.requested_at, 'reason', requests.reason) end as cancellation
    from found left join reports on reports.job_id = found.id left join requests on requests.job_id = found.id
    order by found.place`;
  };
}

const latest = withReports('listed');

/** A FROM item with the queues that have running jobs, and the number of running jobs in each. */
export const busyQueues = `(
        select queue_id as id, sum(jobs) as running from longshore.job_count where state = 'processing'
        group by queue_id having sum(jobs) > 0
      )`;

const stalled = withReplacements(
  ['with expired as', 'with alive as materialized (select id from longshore.server),\n    expired as'],
  [
    'exists (select 1 from longshore.server where server.id = job.server_id)',
    'job.server_id in (select id from alive)',
  ],
);

const keyOf = `meta ->> 'concurrencyKey'`;

/**
 * Counts all blocked jobs of every key. The single-node form instead steps from key to key through the index, and stops
 * counting at a maximum.
 */
const blockingKeys = replacedBy(`
    with counted as materialized (
      select queue_id, ${keyOf} as key, count(*)::integer as blocked, min(priority) as priority from longshore.job_blocked
      where queue_id between greatest($1::integer, 1) and $2::integer
      group by queue_id, ${keyOf} order by blocked desc, queue_id, key limit ${maxKeys}
    ),
    sized as materialized (
      select counted.*, 20000 / count(*) over () as most, row_number() over (order by blocked desc, queue_id, key) as rank from counted
    ),
    described as materialized (select queue_id, key from sized where rank <= 20),
    first as materialized (
      select distinct on (job.queue_id, job.${keyOf}) job.queue_id, job.${keyOf} as key, ${limitOf} as allowed,
        greatest(created_at, run_at) as since
      from longshore.job_blocked as job join described on described.queue_id = job.queue_id and described.key = job.${keyOf}
      order by job.queue_id, job.${keyOf}, priority, seq
    ),
    held as materialized (
      select queue_id, key, jsonb_agg(
          jsonb_build_object('id', id, 'name', name, 'startedAt', case when server_id is not null then started_at end)
          order by server_id is null, started_at
        ) filter (where place <= 10) as holders
      from (
        select job.queue_id, job.${keyOf} as key, id, name, server_id, started_at,
          row_number() over (partition by job.queue_id, job.${keyOf}) as place
        from longshore.job join described on described.queue_id = job.queue_id and described.key = job.${keyOf}
        where job.meta ? 'concurrencyKey'
      ) as holder
      group by queue_id, key
    )
    select sized.queue_id, sized.key, least(sized.blocked, sized.most + 1)::integer as blocked, sized.most::integer, first.allowed,
      first.since, held.holders
    from sized
    left join first on first.queue_id = sized.queue_id and first.key = sized.key
    left join held on held.queue_id = sized.queue_id and held.key = sized.key
    order by sized.rank`);

export const readForms: Forms = {
  'longshore-select-latest-failed': latest,
  'longshore-select-latest-failed-of': latest,
  'longshore-select-earlier-failed': latest,
  'longshore-select-earlier-failed-of': latest,
  'longshore-select-stalled-leases': stalled,
  'longshore-select-blocking-keys': blockingKeys,
};
