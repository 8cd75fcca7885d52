import { attemptColumns, otherAttempts } from '../jobs/job-columns.sql.js';
import { transitionRecorded } from '../jobs/job-transitions.sql.js';
import { outboxEntries } from '../jobs/outbox.sql.js';
import { gapCte } from '../jobs/ready-scans.sql.js';
import { isOfDeadServer, silentServers } from '../servers/servers.sql.js';
import { prepared } from '../connection/statement.js';

export interface SilentRow {
  readonly id: string;
  /**
   * Whether the server was declared dead. `false` if another transaction, such as the server's own claim, has locked
   * the server's row.
   */
  readonly dead: boolean;
}

/**
 * Declares silent servers dead unless their rows are locked, and records the dead servers. Time before Postgres started
 * does not count as silence, because no server could send a heartbeat then. If there are dead servers, deletes records
 * older than a day.
 *
 * The recorded number of running jobs starts at 0 and grows as jobs are rescued. The number in the last heartbeat is
 * not used, because jobs may have started later.
 */
export const declareServersDead = prepared(
  'longshore-declare-servers-dead',
  `
    with silent as materialized (${silentServers}
    ),
    dead as (
      delete from longshore.server
      where id in (
        select server.id from longshore.server join silent using (id) order by server.id for update of server skip locked
      )
      returning id, host, pid, processing, concurrency, heartbeat_at
    ),
    recorded as (
      insert into longshore.lost_server (id, host, pid, processing, concurrency, heartbeat_at)
      select id, host, pid, 0, concurrency, heartbeat_at from dead
    ),
    forgotten as (
      delete from longshore.lost_server where lost_at < now() - interval '1 day' and exists (select 1 from dead)
    )
    select id, dead.id is not null as dead from silent left join dead using (id)`,
);

export interface LossRow {
  /** Whether any server is silent. */
  readonly servers: boolean;
  /** Whether any silent or dead server has an open transaction. */
  readonly transactions: boolean;
  /** Ids of the queues with running jobs. Only these queues can have jobs to rescue. */
  readonly busy: number[];
}

/** Checks for silent servers, open transactions of silent or dead servers, and queues with running jobs. */
export const findLosses = prepared(
  'longshore-find-losses',
  `
    select exists (${silentServers}
      ) as servers,
      exists (select 1 from pg_stat_activity where ${isOfDeadServer}) as transactions,
      array(
        select queue_id from longshore.job_count where state = 'processing' group by queue_id having sum(jobs) > 0
      ) as busy`,
);

const running = `
    running as materialized (
      select id, server_id, started_at, priority, seq from longshore.job
      where queue_id = $1 and server_id is not null
      order by priority, seq
      limit (select sum(jobs) from longshore.job_count where queue_id = $1 and state = 'processing')
    )`;

const isLost = `job.server_id is not null
        and (job.lease_until < now() or not exists (select 1 from longshore.server where server.id = job.server_id))`;

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

const isLostOnNode = `server_id is not null and (lease_until < now() or server_id not in (select id from alive))`;

/**
 * $1 queue. Rescues running jobs if their lease has expired or their server is not registered. Records the lost
 * attempts. Cancels jobs with a cancellation request, and fails other jobs without attempts left. Running jobs are near
 * the head of the queue, and the counters contain their number. The scan therefore stops after the last running job.
 *
 * A server starts its claimed jobs in order, at most `concurrency` at a time. Only the attempts of the first
 * `concurrency` jobs count, because the other jobs had not started. The exception is a job's last allowed attempt,
 * which always counts. It may have started in place of an earlier job whose result was not written yet, and must not be
 * repeated.
 */
export const rescueJobs = prepared('longshore-rescue-jobs', rescue(''), rescueOnNode(''));

const onlyThese = 'and job.id = any($2::uuid[])';

/** $1 queue, $2 ids. Like {@link rescueJobs}, but only for these jobs. */
export const rescueSome = prepared('longshore-rescue-some', rescue(onlyThese), rescueOnNode(onlyThese));

/** $1 queue, $2 ids to skip, $3 limit. Selects jobs to rescue. */
export const selectLost = prepared(
  'longshore-select-lost',
  `
    with ${running}
    select job.id from running join longshore.job on job.queue_id = $1 and job.id = running.id
    where ${isLost} and job.id <> all($2::uuid[])
    order by job.id limit $3`,
  `
    with ${servers}
    select id from running where ${isLostOnNode} and id <> all($2::uuid[])
    order by id limit $3`,
);

export interface RescuedRow {
  released: number;
  failed: number;
  cancelled: number;
}

/** @param which a further SQL condition on the jobs, preceded by `and`; empty if there is none */
function rescue(which: string): string {
  return `
    with ${running},
    placed as materialized (
      select running.id, running.server_id,
        row_number() over (partition by server_id order by running.started_at, priority, seq)
          <= coalesce(alive.concurrency, gone.concurrency, 2147483647) as started
      from running
      left join longshore.server as alive on alive.id = running.server_id
      left join lateral (
        select concurrency from longshore.lost_server where lost_server.id = running.server_id order by lost_at desc limit 1
      ) as gone on true
    ),
    lost as materialized (
      select job.id, job.queue_id, job.attempt, job.run_at, job.ready_at, job.started_at, job.server_id,
        placed.started or job.attempt >= job.max_attempts as counts,
        exists (
          select 1 from longshore.job_cancellation where job_cancellation.queue_id = $1 and job_id = job.id
        ) as cancelled,
        jsonb_build_object(
          'name', 'AttemptLost',
          'message', format('Server %s died or stopped renewing its lease while it ran attempt %s', job.server_id, job.attempt),
          'stack', null) as error
      from placed join longshore.job on job.queue_id = $1 and job.id = placed.id
      where job.server_id = placed.server_id and ${isLost} ${which}
      order by job.id
      for update of job skip locked
    ),
    taken as (
      select server_id, count(*)::integer as jobs from lost where counts group by server_id
    ),
    latest_losses as materialized (
      select distinct on (id) id, lost_at from longshore.lost_server
      where id in (select server_id from taken) order by id, lost_at desc
    ),
    losses_counted as (
      update longshore.lost_server set processing = processing + jobs
      from taken, (
        select id, lost_at from longshore.lost_server join latest_losses using (id, lost_at) order by id for update of lost_server
      ) as mine
      where mine.id = taken.server_id and lost_server.id = mine.id and lost_server.lost_at = mine.lost_at
    ),
    released as (
      update longshore.job
      set server_id = null, started_at = null, lease_until = null,
        attempt = case when lost.counts then job.attempt else job.attempt - 1 end,
        ready_at = case when lost.counts then now() else job.ready_at end,
        due_at = case when lost.counts then null else job.due_at end,
        past_attempts = case when lost.counts then ${otherAttempts} || jsonb_build_object(
          'attempt', job.attempt, 'outcome', 'lost', 'serverId', job.server_id, 'startedAt', job.started_at, 'finishedAt', now(),
          'error', lost.error, 'runAt', job.run_at, 'readyAt', job.ready_at) else past_attempts end
      from lost
      where job.queue_id = $1 and job.id = lost.id and job.attempt < job.max_attempts and not lost.cancelled
      returning job.priority, job.seq, lost.*
    ),
    ${gapCte('released')},
    unstarted as (
      select * from released where not counts
    ),
    ${transitionRecorded('unstarted', 'released', { runAt: 'run_at', readyAt: 'ready_at', startedAt: 'started_at', serverId: 'server_id' })},
    removed as (
      delete from longshore.job using lost
      where job.queue_id = $1 and job.id = lost.id and (job.attempt >= job.max_attempts or lost.cancelled)
      returning job.*, lost.error, case when lost.cancelled then 'cancelled' else 'failed' end::longshore.job_state as state
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
      delete from longshore.job_cancellation using removed where job_cancellation.queue_id = $1 and job_id = removed.id
    ),
    total as (
      select (select count(*) from released) as released,
        (select count(*) from removed where state = 'failed') as failed,
        (select count(*) from removed where state = 'cancelled') as cancelled
    ),
    counted as (
      insert into longshore.job_count (queue_id, state, jobs)
      select $1, change.state, change.jobs
      from total, lateral (values
        ('processing'::longshore.job_state, -(released + failed + cancelled)),
        ('enqueued', released), ('failed', failed), ('cancelled', cancelled)
      ) as change (state, jobs)
      where change.jobs <> 0
    )
    select released::integer, failed::integer, cancelled::integer from total`;
}

/**
 * Returns the text of the statement for Citus. Computes values in CTEs, because Citus cannot compute them in updates.
 * Unlike {@link rescue}, does not lock the records of lost servers in a fixed order.
 */
function rescueOnNode(which: string): string {
  return `
    with ${servers},
    placed as materialized (
      select running.id, running.server_id, running.lease_until,
        row_number() over (partition by running.server_id order by running.started_at, priority, seq)
          <= coalesce(alive.concurrency, gone.concurrency, 2147483647) as started
      from running
      left join alive on alive.id = running.server_id
      left join gone on gone.id = running.server_id
    ),
    expected as materialized (select id, server_id, started from placed where ${isLostOnNode}),
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
        case when counts then null else due_at end as due_at,
        case when counts then ${otherAttempts} || jsonb_build_object(
          'attempt', attempt, 'outcome', 'lost', 'serverId', server_id, 'startedAt', started_at, 'finishedAt', now(),
          'error', error, 'runAt', run_at, 'readyAt', ready_at) else past_attempts end as past_attempts
      from judged where released
    ),
    released as (
      update longshore.job
      set server_id = null, started_at = null, lease_until = null, attempt = again.attempt, ready_at = again.ready_at,
        due_at = again.due_at, past_attempts = again.past_attempts
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
    select released::integer, failed::integer, cancelled::integer from total`;
}
