import type { Statement } from '../connection/database.js';
import { moveNoted } from '../read/job-transitions.sql.js';
import { gapNoted } from './ready-scans.sql.js';

/**
 * $1 queue, $2 ids, $3 servers, $4 attempts, $5 lease in ms. Rows that somebody has locked are not renewed, for waiting for
 * them could end in a deadlock: they are being finished, or held by the transaction of their own handler. They hold all
 * the same.
 */
export const renewClaims: Statement = {
  name: 'longshore-renew-claims',
  text: `
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
};

/** $1 queue, $2 server. The search ends with the last running job, whose number is known, and reads no ready ones behind it. */
export const selectClaims: Statement = {
  name: 'longshore-select-claims',
  text: `
    select id, attempt
    from (
      select id, attempt, server_id from longshore.job
      where queue_id = $1 and server_id is not null
      order by priority, seq
      limit (select coalesce(sum(jobs), 0) from longshore.job_count where queue_id = $1 and state = 'processing')
    ) as running
    where server_id = $2`,
};

/** $1 queue, $2 ids, $3 servers, $4 attempts. The attempt has not begun, or is not to count. */
export const releaseClaims: Statement = {
  name: 'longshore-release-claims',
  text: `
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
    ${moveNoted('released', 'released', {
      runAt: 'run_at',
      readyAt: 'ready_at',
      startedAt: 'started_at',
      serverId: 'server_id',
    })},
    ${gapNoted('released')},
    counted as (
      insert into longshore.job_count (queue_id, state, jobs)
      select $1, change.state, change.sign * total.jobs
      from (select count(*) as jobs from released) as total,
        (values ('processing'::longshore.job_state, -1), ('enqueued', 1)) as change (state, sign)
      where total.jobs > 0
    )
    select id, attempt from released`,
};
