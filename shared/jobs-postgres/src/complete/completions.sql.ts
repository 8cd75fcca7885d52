import { attemptColumns, jobColumns, otherAttempts } from '../jobs/job-columns.sql.js';
import { fromNow } from '../connection/from-now.sql.js';
import { type RecordedColumns, transitionRecorded } from '../jobs/job-transitions.sql.js';
import { outboxEntries } from '../jobs/outbox.sql.js';
import { prepared, type Statement, unprepared } from '../connection/statement.js';

/**
 * The jobs that a statement can finish. `plain`: only jobs without metadata (batch, keys, tags, dependents, …).
 * Finishing these jobs needs no outbox entries. `any`: all jobs.
 */
export type JobKind = 'plain' | 'any';

/**
 * Two statements that record the same outcome. The statement for `plain` skips jobs with metadata; the statement for
 * `any` is slower.
 */
export type Finisher = Readonly<Record<JobKind, Statement>>;

/** SQL condition on a job of the queue $1: nobody has requested that it be cancelled. */
const notRequested = `
        and not exists (
          select 1 from longshore.job_cancellation as request where request.queue_id = $1 and request.job_id = job.id)`;

/**
 * $1 queue, $2 ids, $3 server, $4 attempts. Returns a CTE that deletes these jobs from `longshore.job`. Skips jobs that
 * now have another server or attempt.
 *
 * @param condition SQL for a further condition on the jobs, preceded by `and`
 */
const removed = (kind: JobKind, columns: string, values: string, condition = ''): string => `
    removed as (
      delete from longshore.job
      using unnest($2::uuid[], $4::smallint[], ${values}) as finished (id, attempt, ${columns})
      where job.queue_id = $1 and job.id = finished.id and job.server_id = $3 and job.attempt = finished.attempt${kind === 'plain' ? ' and case when job.meta is null then true end' : ''}${condition}
      returning job.*, ${columns
        .split(', ')
        .map((column) => `finished.${column}`)
        .join(', ')}
    )`;

const counted = (
  kind: JobKind,
  state: string,
): string => `${kind === 'any' ? `${outboxEntries('removed', `'processing'`, `'${state}'`)},` : ''}
    total as materialized (select count(*)::integer as jobs from removed),
    counted as (
      insert into longshore.job_count (queue_id, state, jobs)
      select $1, change.state, change.sign * total.jobs
      from total, (values ('processing'::longshore.job_state, -1), ('${state}', 1)) as change (state, sign)
      where total.jobs > 0
    )`;

const finisher = (name: string, text: (kind: JobKind) => string): Finisher => ({
  plain: prepared(`longshore-finish-${name}`, text('plain')),
  any: prepared(`longshore-finish-${name}-any`, text('any')),
});

/**
 * $5 results, or null if there are none. Moves jobs to `done`. Returns only the number of jobs, because returning
 * thousands of ids per second is expensive.
 */
export const finishDone = finisher(
  'done',
  (kind) => `with ${removed(kind, 'result', '$5::jsonb[]')},
    history as (
      insert into longshore.job_history_done (${attemptColumns}, result) select ${attemptColumns}, result from removed
    ), ${counted(kind, 'done')}
    select jobs from total`,
);

/**
 * $1 queue, $2 ids, $3 server, $4 attempt. Moves jobs without metadata or results to `done`, and returns their number.
 * All jobs must be in the same attempt, which is the common case. With no parallel arrays to join, Postgres finds jobs
 * with neighbouring ids together. In batches of 1,000, this takes Postgres 5.6 µs per job instead of 7.7
 * (docs/adr/026).
 */
export const finishDoneAlike = prepared(
  'longshore-finish-done-alike',
  `
    with removed as (
      delete from longshore.job
      where job.queue_id = $1 and job.id = any($2::uuid[]) and job.server_id = $3 and job.attempt = $4
        and case when job.meta is null then true end
      returning job.*
    ),
    history as (
      insert into longshore.job_history_done (${attemptColumns}) select ${attemptColumns} from removed
    ), ${counted('plain', 'done')}
    select jobs from total`,
);

/** $5 errors. Moves jobs to `failed`. Skips jobs that are to be cancelled. */
export const finishFailed = finisher(
  'failed',
  (kind) => `with ${removed(kind, 'error', '$5::jsonb[]', notRequested)},
    history as (
      insert into longshore.job_history_failed (${attemptColumns}, error) select ${attemptColumns}, error from removed
    ), ${counted(kind, 'failed')}
    select id, attempt from removed`,
);

/** $5 errors. Moves jobs to `cancelled` and deletes the requests to cancel them. */
export const finishCancelled = finisher(
  'cancelled',
  (kind) => `with ${removed(kind, 'error', '$5::jsonb[]')},
    history as (
      insert into longshore.job_history_cancelled (${attemptColumns}, error) select ${attemptColumns}, error from removed
    ),
    request as (
      delete from longshore.job_cancellation using removed where job_cancellation.queue_id = $1 and job_id = removed.id
    ), ${counted(kind, 'cancelled')}
    select id, attempt from removed`,
);

const runOf: RecordedColumns = {
  runAt: 'run_at',
  readyAt: 'ready_at',
  startedAt: 'started_at',
  serverId: 'server_id',
};

/** $5 delays in ms. Schedules snoozed jobs again; the attempt does not count. Skips jobs that are to be cancelled. */
export const finishSnooze = finisher(
  'snooze',
  (kind) => `with ${removed(kind, 'delay', '$5::float8[]', notRequested)},
    waiting as (
      insert into longshore.job_scheduled
        (${jobColumns})
      select queue_id, id, created_at, ${fromNow('delay')}, priority, attempt - 1, max_attempts, name,
        args, meta, past_attempts
      from removed
    ), ${transitionRecorded('removed', 'snoozed', runOf)}, ${counted(kind, 'scheduled')}
    select id, attempt from removed`,
);

/** $5 errors, $6 delays in ms. Schedules failed jobs for another attempt. Skips jobs that are to be cancelled. */
export const finishRetry = finisher(
  'retry',
  (kind) => `with ${removed(kind, 'error, delay', '$5::jsonb[], $6::float8[]', notRequested)},
    waiting as (
      insert into longshore.job_scheduled
        (queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, retried_at, past_attempts)
      select queue_id, id, created_at, ${fromNow('delay')}, priority, attempt, max_attempts, name, args,
        meta, now(), ${otherAttempts} || jsonb_build_object(
          'attempt', attempt, 'outcome', 'failed', 'serverId', server_id, 'startedAt', started_at, 'finishedAt', now(), 'error', error,
          'runAt', run_at, 'readyAt', ready_at)
      from removed
    ), ${counted(kind, 'scheduled')}
    select id, attempt from removed`,
);

/**
 * $1 queue, $2 id, $3 server, $4 attempt. Locks the job until the transaction ends and returns its metadata. Returns no
 * row if the claim is not valid.
 */
export const lockClaim = unprepared(
  'longshore-lock-claim',
  `select meta from longshore.job where queue_id = $1 and id = $2 and server_id = $3 and attempt = $4 for update`,
);

/**
 * $1 ids, $2 servers, $3 attempts. Returns the claims that already have a recorded outcome: the job has ended, or a
 * retry is scheduled. Needed because a write is repeated if its response is lost.
 */
export const alreadyFinished = prepared(
  'longshore-already-finished',
  `
    select claim.id, claim.attempt
    from unnest($1::uuid[], $2::uuid[], $3::smallint[]) as claim (id, server_id, attempt)
    where exists (
        select 1 from longshore.job_history as job
        where job.id = claim.id and job.server_id = claim.server_id and job.attempt = claim.attempt)
      or exists (
        select 1 from longshore.queue join longshore.job_scheduled as job on job.queue_id = queue.id
        where job.id = claim.id and job.past_attempts @> jsonb_build_array(
          jsonb_build_object('attempt', claim.attempt, 'serverId', claim.server_id, 'outcome', 'failed')))`,
);
