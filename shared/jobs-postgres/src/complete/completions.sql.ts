import { attemptColumns, jobColumns } from '../read/job-columns.sql.js';
import { fromNow } from '../connection/from-now.sql.js';
import { type BeforeMove, moveNoted } from '../read/job-transitions.sql.js';
import { noted } from '../dependencies/outbox.sql.js';
import { prepared, type Statement, unprepared } from '../connection/statement.js';

/**
 * `linked`: the job has metadata (a batch, keys, tags, …) or other jobs depend on it, so its state changes may have to be
 * written to the outbox. `plain`: none of these.
 */
export type Linkage = 'plain' | 'linked';

/** Two statements that record the same outcome: `plain` skips jobs that are not plain, `linked` works for any job. */
export type Finisher = Readonly<Record<Linkage, Statement>>;

/**
 * Returns the part of a statement that removes finished jobs from the table of running ones. $1 queue, $2 ids, $3 server, $4
 * attempts: the claims of one server as parallel arrays. A claim that is no longer valid matches no row, so nothing is written
 * for it; the whole statement returns the finished jobs or their number.
 */
const removed = (linkage: Linkage, columns: string, values: string): string => `
    removed as (
      delete from longshore.job
      using unnest($2::uuid[], $4::smallint[], ${values}) as finished (id, attempt, ${columns})
      where job.queue_id = $1 and job.id = finished.id and job.server_id = $3 and job.attempt = finished.attempt${linkage === 'plain' ? ' and case when job.meta is null then true end' : ''}
      returning job.*, ${columns
        .split(', ')
        .map((column) => `finished.${column}`)
        .join(', ')}
    )`;

const counted = (
  linkage: Linkage,
  state: string,
): string => `${linkage === 'linked' ? `${noted('removed', `'processing'`, `'${state}'`)},` : ''}
    total as materialized (select count(*)::integer as jobs from removed),
    counted as (
      insert into longshore.job_count (queue_id, state, jobs)
      select $1, change.state, change.sign * total.jobs
      from total, (values ('processing'::longshore.job_state, -1), ('${state}', 1)) as change (state, sign)
      where total.jobs > 0
    )`;

const finisher = (name: string, text: (linkage: Linkage) => string): Finisher => ({
  plain: prepared(`longshore-finish-${name}`, text('plain')),
  linked: prepared(`longshore-finish-${name}-linked`, text('linked')),
});

/** $5 results. Returns the number of jobs, because returning thousands of ids per second is expensive. */
export const finishDone = finisher(
  'done',
  (linkage) => `with ${removed(linkage, 'result', '$5::jsonb[]')},
    history as (
      insert into longshore.job_history_done (${attemptColumns}, result) select ${attemptColumns}, result from removed
    ), ${counted(linkage, 'done')}
    select jobs from total`,
);

/** $5 errors. Moves jobs to `failed`. */
export const finishFailed = finisher(
  'failed',
  (linkage) => `with ${removed(linkage, 'error', '$5::jsonb[]')},
    history as (
      insert into longshore.job_history_failed (${attemptColumns}, error) select ${attemptColumns}, error from removed
    ), ${counted(linkage, 'failed')}
    select id, attempt from removed`,
);

/** $5 errors. Moves jobs to `cancelled` and deletes the requests to cancel them. */
export const finishCancelled = finisher(
  'cancelled',
  (linkage) => `with ${removed(linkage, 'error', '$5::jsonb[]')},
    history as (
      insert into longshore.job_history_cancelled (${attemptColumns}, error) select ${attemptColumns}, error from removed
    ),
    request as (
      delete from longshore.job_cancellation using removed where job_cancellation.queue_id = $1 and job_id = removed.id
    ), ${counted(linkage, 'cancelled')}
    select id, attempt from removed`,
);

const runOf: BeforeMove = {
  runAt: 'run_at',
  readyAt: 'ready_at',
  startedAt: 'started_at',
  serverId: 'server_id',
};

/** $5 milliseconds to wait. Schedules jobs that were snoozed; the attempt does not count. */
export const finishSnooze = finisher(
  'snooze',
  (linkage) => `with ${removed(linkage, 'delay', '$5::float8[]')},
    waiting as (
      insert into longshore.job_scheduled
        (${jobColumns})
      select queue_id, id, created_at, ${fromNow('delay')}, priority, attempt - 1, max_attempts, name,
        args, meta, past_attempts
      from removed
    ), ${moveNoted('removed', 'snoozed', runOf)}, ${counted(linkage, 'scheduled')}
    select id, attempt from removed`,
);

/** $5 errors, $6 milliseconds to wait. Schedules the next attempt of jobs whose attempt failed. */
export const finishRetry = finisher(
  'retry',
  (linkage) => `with ${removed(linkage, 'error, delay', '$5::jsonb[], $6::float8[]')},
    waiting as (
      insert into longshore.job_scheduled
        (queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, retried_at, past_attempts)
      select queue_id, id, created_at, ${fromNow('delay')}, priority, attempt, max_attempts, name, args,
        meta, now(), coalesce(past_attempts, '[]') || jsonb_build_object(
          'attempt', attempt, 'outcome', 'failed', 'serverId', server_id, 'startedAt', started_at, 'finishedAt', now(), 'error', error,
          'runAt', run_at, 'readyAt', ready_at)
      from removed
    ), ${counted(linkage, 'scheduled')}
    select id, attempt from removed`,
);

/** $1 queue, $2 id, $3 server, $4 attempt. Locks the job until the transaction ends; no row if the claim is not valid. */
export const lockClaim = unprepared(
  'longshore-lock-claim',
  `select meta from longshore.job where queue_id = $1 and id = $2 and server_id = $3 and attempt = $4 for update`,
);

/**
 * $1 ids, $2 servers, $3 attempts. Returns the claims whose attempt has already been recorded as finished or failed, by an
 * earlier write whose response was lost.
 */
export const alreadyFinished = prepared(
  'longshore-already-finished',
  `
    select claim.id, claim.attempt
    from unnest($1::uuid[], $2::uuid[], $3::smallint[]) as claim (id, server_id, attempt)
    where exists (
        select from longshore.job_history as job
        where job.id = claim.id and job.server_id = claim.server_id and job.attempt = claim.attempt)
      or exists (
        select from longshore.queue join longshore.job_scheduled as job on job.queue_id = queue.id
        where job.id = claim.id and job.past_attempts @> jsonb_build_array(
          jsonb_build_object('attempt', claim.attempt, 'serverId', claim.server_id, 'outcome', 'failed')))`,
);
