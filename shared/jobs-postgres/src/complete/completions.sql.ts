import { attemptColumns, jobColumns, otherAttempts } from '../jobs/job-columns.sql.js';
import { numberOf, outboxNumbers } from '../jobs/drawn-numbers.sql.js';
import { dueFrom, fromNow } from '../connection/database.sql.js';
import { type RecordedColumns, transitionRecorded } from '../jobs/job-transitions.sql.js';
import { affectsOthers, outboxEntries } from '../jobs/outbox.sql.js';
import { prepared, type Statement, unprepared } from '../connection/statement.js';
import { hasAwaited, metaWithoutAwaits } from '../jobs/awaited-signals.sql.js';

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

/**
 * Returns the SQL condition that a job runs on the server $3. The `case` keeps the planner from using statistics.
 * Otherwise, the nodes, which plan each call for its actual parameters, would expect the server to run a single job.
 * They would then read all jobs of the queue and compare each of them with all outcomes.
 */
const onServer = (column: string): string => `case when ${column} = $3 then true end`;

/**
 * Returns a FROM item with the jobs to finish and their outcomes. $1 queue, $2 ids, $3 server, $4 attempts, parallel to
 * $2. Citus runs the CTEs of a statement one after another. The first CTE that uses this item locks the jobs, so that
 * later CTEs find the same jobs. The last CTE deletes the jobs.
 *
 * @param columns names of the columns with the outcomes, each preceded by a comma
 * @param values SQL expressions for these columns, each preceded by a comma
 * @param lock `for update` in the first CTE; empty in all others
 */
const finished = (kind: JobKind, columns: string, values: string, lock = ''): string => `
      (
        select * from longshore.job
        where queue_id = $1 and id = any($2::uuid[]) and ${onServer('server_id')}${kind === 'plain' ? ' and case when meta is null then true end' : ''} ${lock}
      ) as job
      join unnest($2::uuid[], $4::smallint[]${values}) with ordinality as finished (finished_id, finished_attempt${columns}, finished_place)
        on job.id = finished.finished_id and job.attempt = finished.finished_attempt`;

interface NodeOutcome {
  /** The state of the jobs after the attempt. */
  readonly state: string;
  /** Names of the columns for the parameters from $5 on, each preceded by a comma. */
  readonly columns: string;
  /** SQL for these parameters with their types, each preceded by a comma. */
  readonly values: string;
  /** Returns a CTE that stores the jobs from the FROM item `source` in their new table. */
  readonly stored: (source: string) => string;
  /** Returns additional CTEs, each followed by a comma. */
  readonly otherCtes?: (source: string) => string;
  /** Query for the result of the statement; defaults to the ids and attempts of the finished jobs. */
  readonly result?: string;
}

/**
 * Returns the text, for Citus, of a statement that records an outcome for jobs of one kind. Every CTE that reads or writes jobs is a single
 * task on the queue's node.
 */
function finishOnNode(
  kind: JobKind,
  { state, columns, values, stored, otherCtes, result }: NodeOutcome,
): string {
  const source = finished(kind, columns, values);
  const outbox = `
    outbox_entries as (
      insert into longshore.outbox (id, queue_id, job_id, from_state, to_state, meta)
      select ${numberOf('finished_place')}, queue_id, id, 'processing', '${state}', meta from ${finished(kind, '', '')}
      where ${affectsOthers}
    ),`;
  return `
    with${kind === 'any' ? `${outboxNumbers('unnest($2::uuid[])')},` : ''}${stored(finished(kind, columns, values, 'for update'))},${otherCtes?.(source) ?? ''}${kind === 'any' ? outbox : ''}
    counted as (
      insert into longshore.job_count (queue_id, state, jobs)
      select queue_id, change.state, change.sign * count(*)
      from ${finished(kind, '', '')}, (values ('processing'::longshore.job_state, -1), ('${state}', 1)) as change (state, sign)
      group by queue_id, change.state, change.sign
    ),
    removed as (
      delete from longshore.job using unnest($2::uuid[], $4::smallint[]) as finished (id, attempt)
      where job.queue_id = $1 and job.id = finished.id and ${onServer('job.server_id')} and job.attempt = finished.attempt${kind === 'plain' ? ' and case when job.meta is null then true end' : ''}
      returning job.id, job.attempt
    )
    ${result ?? 'select id, attempt from removed'}`;
}

const ended = (state: 'done' | 'failed' | 'cancelled', column: 'result' | 'error'): NodeOutcome => ({
  state,
  columns: `, ${column}`,
  values: ', $5::jsonb[]',
  stored: (source) => `
    history as (
      insert into longshore.job_history_${state} (${attemptColumns}, ${column}) select ${attemptColumns}, ${column} from ${source}
    )`,
});

const finisher = (name: string, text: (kind: JobKind) => string, onNode: NodeOutcome): Finisher => ({
  plain: prepared(`longshore-finish-${name}`, text('plain'), finishOnNode('plain', onNode)),
  any: prepared(`longshore-finish-${name}-any`, text('any'), finishOnNode('any', onNode)),
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
  {
    ...ended('done', 'result'),
    result: 'select count(*)::integer as jobs from removed',
  },
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
  ended('failed', 'error'),
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
  {
    ...ended('cancelled', 'error'),
    otherCtes: (source) => `
    request as (
      delete from longshore.job_cancellation
      where queue_id = $1 and job_id in (select id from ${source})
    ),`,
  },
);

const runOf: RecordedColumns = {
  runAt: 'run_at',
  readyAt: 'ready_at',
  startedAt: 'started_at',
  serverId: 'server_id',
};

/** SQL expression for the metadata of a job whose attempt has ended otherwise than by a suspension. */
const metaAfter = (kind: JobKind): string => (kind === 'plain' ? 'meta' : metaWithoutAwaits);

/**
 * Returns the statements that schedule jobs whose attempts do not count. Skip jobs with a cancellation request.
 *
 * @param columns names of the columns for the parameters from $5 on
 * @param values SQL for these parameters with their types
 * @param scheduled returns SQL for the columns of the scheduled job, in the order of {@link jobColumns}; `id` is that of the job
 */
function putOff(
  name: string,
  reason: 'snoozed' | 'suspended',
  columns: string,
  values: string,
  scheduled: (kind: JobKind, id: string) => string,
): Finisher {
  const waiting = (kind: JobKind, id: string, source: string): string => `
    waiting as (
      insert into longshore.job_scheduled (${jobColumns})
      select ${scheduled(kind, id)}
      from ${source}
    )`;
  return finisher(
    name,
    (kind) => `with ${removed(kind, columns, values, notRequested)},${waiting(kind, 'removed.id', 'removed')},
    ${transitionRecorded('removed', reason, runOf)}, ${counted(kind, 'scheduled')}
    select id, attempt from removed`,
    {
      state: 'scheduled',
      columns: `, ${columns}`,
      values: `, ${values}`,
      stored: (source) => waiting('any', 'job.id', source),
      otherCtes: (source) => `${transitionRecorded(source, reason, runOf)},`,
    },
  );
}

/** $5 delays in ms. Schedules snoozed jobs again. */
export const finishSnooze = putOff(
  'snooze',
  'snoozed',
  'delay',
  '$5::float8[]',
  (kind) => `queue_id, id, created_at, ${fromNow('delay')}, priority, attempt - 1, max_attempts, name,
        args, ${metaAfter(kind)}, past_attempts`,
);

/**
 * $5 times, $6 new members of the metadata: the signals that the jobs await, and the jobs that are cancelled with them. Schedules
 * jobs whose handlers wait. If all signals of a name are there, the job is due at once. {@link lockClaims} must have locked the
 * jobs earlier in the same transaction.
 */
export const finishSuspend = putOff(
  'suspend',
  'suspended',
  'until, waits',
  '$5::timestamptz[], $6::jsonb[]',
  (
    _kind,
    id,
  ) => `queue_id, id, created_at, case when ${hasAwaited(id, "waits -> 'awaits'")} then now() else ${dueFrom('until')} end,
        priority, attempt - 1, max_attempts, name, args, coalesce(meta - 'cancels', '{}') || waits, past_attempts`,
);

/** $1 queue, $2 ids, $3 server, $4 attempts. Locks running jobs until the transaction ends. */
export const lockClaims = prepared(
  'longshore-lock-claims',
  `
    select job.id from longshore.job
    where job.queue_id = $1 and job.id = any($2::uuid[]) and job.server_id = $3 and job.attempt = any($4::smallint[])
    order by job.id for update`,
);

/** $5 errors, $6 delays in ms. Schedules failed jobs for another attempt. Skips jobs that are to be cancelled. */
export const finishRetry = finisher(
  'retry',
  (kind) => `with ${removed(kind, 'error, delay', '$5::jsonb[], $6::float8[]', notRequested)},
    waiting as (
      insert into longshore.job_scheduled
        (queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, retried_at, past_attempts)
      select queue_id, id, created_at, ${fromNow('delay')}, priority, attempt, max_attempts, name, args,
        ${metaAfter(kind)}, now(), ${otherAttempts} || jsonb_build_object(
          'attempt', attempt, 'outcome', 'failed', 'serverId', server_id, 'startedAt', started_at, 'finishedAt', now(), 'error', error,
          'runAt', run_at, 'readyAt', ready_at)
      from removed
    ), ${counted(kind, 'scheduled')}
    select id, attempt from removed`,
  {
    state: 'scheduled',
    columns: ', error, delay',
    values: ', $5::jsonb[], $6::float8[]',
    stored: (source) => `
    waiting as (
      insert into longshore.job_scheduled
        (queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, retried_at, past_attempts)
      select queue_id, id, created_at, ${fromNow('delay')}, priority, attempt, max_attempts, name, args,
        ${metaWithoutAwaits}, now(), ${otherAttempts} || jsonb_build_object(
          'attempt', attempt, 'outcome', 'failed', 'serverId', server_id, 'startedAt', started_at, 'finishedAt', now(), 'error', error,
          'runAt', run_at, 'readyAt', ready_at)
      from ${source}
    )`,
  },
);

/**
 * $1 queue, $2 id, $3 server, $4 attempt. Locks the job until the transaction ends and returns its metadata. Returns no
 * row if the claim is not valid. The lock is shared, so that parallel steps of an attempt do not wait for each other.
 */
export const lockClaim = unprepared(
  'longshore-lock-claim',
  `select meta from longshore.job where queue_id = $1 and id = $2 and server_id = $3 and attempt = $4 for share`,
);

/** SQL condition on a scheduled job: it has been suspended in this attempt, which therefore has not been counted. */
const isSuspended = `job.meta ? 'awaits' and job.attempt = claim.attempt - 1`;

/**
 * $1 ids, $2 servers, $3 attempts. Returns the claims that already have a recorded outcome: the job has ended, or a
 * retry is scheduled, or it is suspended. Needed because a write is repeated if its response is lost.
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
          jsonb_build_object('attempt', claim.attempt, 'serverId', claim.server_id, 'outcome', 'failed'))
          or job.id = claim.id and ${isSuspended})`,
  `
    with claim as materialized (select * from unnest($1::uuid[], $2::uuid[], $3::smallint[]) as claim (id, server_id, attempt)),
    ended as materialized (
      select id, server_id, attempt from longshore.job_history
      where id = any($1::uuid[]) and queue_id in (select id from longshore.queue)
    ),
    retried as materialized (
      select id, attempt, meta, past_attempts from longshore.job_scheduled
      where id = any($1::uuid[]) and queue_id in (select id from longshore.queue)
    )
    select claim.id, claim.attempt from claim
    where exists (
        select 1 from ended as job
        where job.id = claim.id and job.server_id = claim.server_id and job.attempt = claim.attempt)
      or exists (
        select 1 from retried as job
        where job.id = claim.id and job.past_attempts @> jsonb_build_array(
          jsonb_build_object('attempt', claim.attempt, 'serverId', claim.server_id, 'outcome', 'failed'))
          or job.id = claim.id and ${isSuspended})`,
);
