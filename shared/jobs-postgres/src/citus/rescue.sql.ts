import { attemptColumns, otherAttempts } from '../jobs/job-columns.sql.js';
import { outboxEntries } from '../jobs/outbox.sql.js';
import { transitionRecorded } from '../jobs/job-transitions.sql.js';
import { type Form, type Forms, replacedBy } from './form.js';

/** CTEs with the live servers, the lost servers, and the running jobs of the queue. */
const servers = `
    alive as materialized (select id, concurrency from longshore.server),
    gone as materialized (
      select distinct on (id) id, concurrency, lost_at from longshore.lost_server order by id, lost_at desc
    ),
    size as materialized (
      select coalesce(sum(jobs), 0) as jobs from longshore.job_count where queue_id = $1 and state = 'processing'
    ),
    running as materialized (
      select id, server_id, lease_until, started_at, priority, seq from longshore.job
      where queue_id = $1 and server_id is not null
      order by priority, seq limit (select jobs from size)
    )`;

const isLost = `server_id is not null and (lease_until < now() or server_id not in (select id from alive))`;

/**
 * Returns the Citus form of a statement that rescues running jobs whose lease has expired or whose server no longer
 * exists. Computes values in CTEs, because Citus cannot compute them in updates. Unlike the single-node form, does not
 * lock the records of lost servers in a fixed order.
 *
 * @param which an additional SQL condition on the jobs, preceded by `and`; empty if there is none
 */
function rescue(which: string): Form {
  return replacedBy(`
    with ${servers},
    placed as materialized (
      select running.id, running.server_id, running.lease_until,
        row_number() over (partition by running.server_id order by running.started_at, priority, seq)
          <= coalesce(alive.concurrency, gone.concurrency, 2147483647) as started
      from running
      left join alive on alive.id = running.server_id
      left join gone on gone.id = running.server_id
    ),
    expected as materialized (select id, server_id, started from placed where ${isLost}),
    lost as materialized (
      with expected_here as materialized (select id, server_id, started from expected),
      alive_here as materialized (select id from alive),
      locked as materialized (
      select job.*, expected_here.started or job.attempt >= job.max_attempts as counts,
        exists (
          select 1 from longshore.job_cancellation where job_cancellation.queue_id = $1 and job_id = job.id
        ) as cancelled
      from expected_here join longshore.job on job.queue_id = $1 and job.id = expected_here.id
      where job.server_id = expected_here.server_id and job.server_id is not null
        and (job.lease_until < now() or job.server_id not in (select id from alive_here)) ${which}
      order by job.id
      for update of job skip locked
      )
      select * from locked
    ),
    judged as materialized (
      select lost.*, attempt < max_attempts and not cancelled as released,
        jsonb_build_object(
          'name', 'AttemptLost',
          'message', format('Server %s died or stopped renewing its lease while it ran attempt %s', server_id, attempt),
          'stack', null) as error
      from lost
    ),
    taken as materialized (select server_id, count(*)::integer as jobs from judged where counts group by server_id),
    losses_counted as (
      update longshore.lost_server as record set processing = processing + taken.jobs
      from taken join gone on gone.id = taken.server_id
      where record.id = gone.id and record.lost_at = gone.lost_at
    ),
    again as materialized (
      select id, case when counts then attempt else attempt - 1 end as attempt, case when counts then now() else ready_at end as ready_at,
        case when counts then ${otherAttempts} || jsonb_build_object(
          'attempt', attempt, 'outcome', 'lost', 'serverId', server_id, 'startedAt', started_at, 'finishedAt', now(),
          'error', error, 'runAt', run_at, 'readyAt', ready_at) else past_attempts end as past_attempts
      from judged where released
    ),
    released as (
      update longshore.job
      set server_id = null, started_at = null, lease_until = null, attempt = again.attempt, ready_at = again.ready_at,
        past_attempts = again.past_attempts
      from again where job.queue_id = $1 and job.id = again.id
    ),
    unstarted as materialized (select * from judged where released and not counts),
    ${transitionRecorded('unstarted', 'released', { runAt: 'run_at', readyAt: 'ready_at', startedAt: 'started_at', serverId: 'server_id' })},
    removed as materialized (
      select judged.*, case when cancelled then 'cancelled' else 'failed' end::longshore.job_state as state
      from judged where not released
    ),
    deleted as (
      delete from longshore.job where queue_id = $1 and id = any (array(select id from removed))
    ),
    failed as (
      insert into longshore.job_history_failed (${attemptColumns}, error)
      select ${attemptColumns}, error from removed where state = 'failed'
    ),
    cancelled as (
      insert into longshore.job_history_cancelled (${attemptColumns}, error)
      select ${attemptColumns}, error from removed where state = 'cancelled'
    ),
    ${outboxEntries('removed', `'processing'`, 'state')},
    requests as (
      delete from longshore.job_cancellation where queue_id = $1 and job_id = any (array(select id from removed))
    ),
    total as materialized (
      select (select count(*) from again) as released,
        (select count(*) from removed where state = 'failed') as failed,
        (select count(*) from removed where state = 'cancelled') as cancelled
    ),
    counted as (
      insert into longshore.job_count (queue_id, state, jobs)
      select $1::integer, change.state, change.jobs
      from total, lateral (values
        ('processing'::longshore.job_state, -(released + failed + cancelled)),
        ('enqueued', released), ('failed', failed), ('cancelled', cancelled)
      ) as change (state, jobs)
      where change.jobs <> 0
    )
    select released::integer, failed::integer, cancelled::integer from total`);
}

/** Citus forms of statements that find and rescue jobs whose lease has expired or whose server no longer exists. */
export const rescueForms: Forms = {
  'longshore-rescue-jobs': rescue(''),
  'longshore-rescue-some': rescue('and job.id = any($2::uuid[])'),
  'longshore-select-lost': replacedBy(`
    with ${servers}
    select id from running where ${isLost} and id <> all($2::uuid[])
    order by id limit $3`),
};
