import { prepared } from '../connection/statement.js';
import { transitionRecorded } from '../jobs/job-transitions.sql.js';
import { gapCte } from '../jobs/ready-scans.sql.js';

/**
 * $1 queue, $2 ids, $3 servers, $4 attempts, $5 lease in ms. Renews leases and returns the claims that are still valid.
 * Skips locked jobs, because waiting for the lock could deadlock. A job is locked while it is being finished, or while
 * its handler has an open transaction. A skipped job keeps the old lease, but the claim is returned as valid.
 */
export const renewClaims = prepared(
  'longshore-renew-claims',
  `
    with held as materialized (
      select job.id, job.attempt
      from unnest($2::uuid[], $3::uuid[], $4::smallint[]) as claim (id, server_id, attempt)
      join longshore.job on job.queue_id = $1 and job.id = claim.id
        and job.server_id = claim.server_id and job.attempt = claim.attempt
    ),
    free as materialized (
      select id from longshore.job
      where queue_id = $1 and id in (select id from held)
      order by id
      for update skip locked
    ),
    renewed as (
      update longshore.job set lease_until = now() + $5::float8 * interval '1 millisecond'
      from free where job.queue_id = $1 and job.id = free.id
    )
    select id, attempt from held`,
);

/**
 * $1 queue, $2 server. Returns the server's claims in the queue. `job_count` has the number of running jobs, so the
 * scan can stop after the last of them.
 */
export const selectClaims = prepared(
  'longshore-select-claims',
  `
    select id, attempt
    from (
      select id, attempt, server_id from longshore.job
      where queue_id = $1 and server_id is not null
      order by priority, seq
      limit (select coalesce(sum(jobs), 0) from longshore.job_count where queue_id = $1 and state = 'processing')
    ) as running
    where server_id = $2`,
);

/**
 * $1 queue, $2 ids, $3 servers, $4 attempts. Makes claimed jobs ready again; the attempt does not count. Returns the
 * claims that were valid.
 */
export const releaseClaims = prepared(
  'longshore-release-claims',
  `
    with held as materialized (
      select job.queue_id, job.id, job.server_id, job.attempt, job.run_at, job.ready_at, job.started_at, job.priority, job.seq
      from unnest($2::uuid[], $3::uuid[], $4::smallint[]) as claim (id, server_id, attempt)
      join longshore.job on job.queue_id = $1 and job.id = claim.id
        and job.server_id = claim.server_id and job.attempt = claim.attempt
    ),
    released as (
      update longshore.job
      set server_id = null, attempt = job.attempt - 1, started_at = null, lease_until = null
      from held
      where job.queue_id = $1 and job.id = held.id
        and job.server_id = held.server_id and job.attempt = held.attempt
      returning held.*
    ),
    ${transitionRecorded('released', 'released', {
      runAt: 'run_at',
      readyAt: 'ready_at',
      startedAt: 'started_at',
      serverId: 'server_id',
    })},
    ${gapCte('released')},
    counted as (
      insert into longshore.job_count (queue_id, state, jobs)
      select $1, change.state, change.sign * total.jobs
      from (select count(*) as jobs from released) as total,
        (values ('processing'::longshore.job_state, -1), ('enqueued', 1)) as change (state, sign)
      where total.jobs > 0
    )
    select id, attempt from released`,
);
