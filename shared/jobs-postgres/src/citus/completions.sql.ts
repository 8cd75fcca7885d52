import { attemptColumns, jobColumns, otherAttempts } from '../jobs/job-columns.sql.js';
import { fromNow } from '../connection/from-now.sql.js';
import type { JobKind } from '../complete/completions.sql.js';
import { type RecordedColumns, transitionRecorded } from '../jobs/job-transitions.sql.js';
import { type Form, type Forms, replacedBy } from './form.js';
import { numberOf, outboxNumbers } from './numbers.sql.js';

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

interface Outcome {
  /** The state of the jobs after the attempt. */
  readonly state: string;
  /** Names of the columns for the parameters from $5 on, each preceded by a comma. */
  readonly columns: string;
  /** SQL for these parameters with their types, each preceded by a comma. */
  readonly values: string;
  /** Returns a CTE that stores the jobs from the FROM item `source` in their new table. */
  readonly stored: (source: string) => string;
  /** Returns additional CTEs, each followed by a comma. */
  readonly others?: (source: string) => string;
  /** Query for the result of the statement; defaults to the ids and attempts of the finished jobs. */
  readonly result?: string;
}

/**
 * Returns the Citus form that records an outcome for jobs of one kind. Every CTE that reads or writes jobs is a single
 * task on the queue's node.
 */
function finish(kind: JobKind, { state, columns, values, stored, others, result }: Outcome): Form {
  const source = finished(kind, columns, values);
  const outbox = `
    outbox_entries as (
      insert into longshore.outbox (id, queue_id, job_id, from_state, to_state, meta)
      select ${numberOf('finished_place')}, queue_id, id, 'processing', '${state}', meta from ${finished(kind, '', '')}
      where meta ?| array['batchId', 'concurrencyKey', 'hasDependents']
    ),`;
  return replacedBy(`
    with${kind === 'any' ? `${outboxNumbers('unnest($2::uuid[])')},` : ''}${stored(finished(kind, columns, values, 'for update'))},${others?.(source) ?? ''}${kind === 'any' ? outbox : ''}
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
    ${result ?? 'select id, attempt from removed'}`);
}

const ended = (state: 'done' | 'failed' | 'cancelled', column: 'result' | 'error'): Outcome => ({
  state,
  columns: `, ${column}`,
  values: ', $5::jsonb[]',
  stored: (source) => `
    history as (
      insert into longshore.job_history_${state} (${attemptColumns}, ${column}) select ${attemptColumns}, ${column} from ${source}
    )`,
});

const done: Outcome = {
  ...ended('done', 'result'),
  result: 'select count(*)::integer as jobs from removed',
};

const cancelled: Outcome = {
  ...ended('cancelled', 'error'),
  others: (source) => `
    request as (
      delete from longshore.job_cancellation
      where queue_id = $1 and job_id in (select id from ${source})
    ),`,
};

const runOf: RecordedColumns = {
  runAt: 'run_at',
  readyAt: 'ready_at',
  startedAt: 'started_at',
  serverId: 'server_id',
};

const snoozed: Outcome = {
  state: 'scheduled',
  columns: ', delay',
  values: ', $5::float8[]',
  stored: (source) => `
    waiting as (
      insert into longshore.job_scheduled (${jobColumns})
      select queue_id, id, created_at, ${fromNow('delay')}, priority, attempt - 1, max_attempts, name, args, meta, past_attempts
      from ${source}
    )`,
  others: (source) => `${transitionRecorded(source, 'snoozed', runOf)},`,
};

const retried: Outcome = {
  state: 'scheduled',
  columns: ', error, delay',
  values: ', $5::jsonb[], $6::float8[]',
  stored: (source) => `
    waiting as (
      insert into longshore.job_scheduled
        (queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, retried_at, past_attempts)
      select queue_id, id, created_at, ${fromNow('delay')}, priority, attempt, max_attempts, name, args,
        meta, now(), ${otherAttempts} || jsonb_build_object(
          'attempt', attempt, 'outcome', 'failed', 'serverId', server_id, 'startedAt', started_at, 'finishedAt', now(), 'error', error,
          'runAt', run_at, 'readyAt', ready_at)
      from ${source}
    )`,
};

const outcomes: Readonly<Record<string, Outcome>> = {
  done,
  failed: ended('failed', 'error'),
  cancelled,
  snooze: snoozed,
  retry: retried,
};

const alreadyFinished = replacedBy(`
    with claim as materialized (select * from unnest($1::uuid[], $2::uuid[], $3::smallint[]) as claim (id, server_id, attempt)),
    ended as materialized (
      select id, server_id, attempt from longshore.job_history
      where id = any($1::uuid[]) and queue_id in (select id from longshore.queue)
    ),
    retried as materialized (
      select id, past_attempts from longshore.job_scheduled
      where id = any($1::uuid[]) and queue_id in (select id from longshore.queue)
    )
    select claim.id, claim.attempt from claim
    where exists (
        select 1 from ended as job
        where job.id = claim.id and job.server_id = claim.server_id and job.attempt = claim.attempt)
      or exists (
        select 1 from retried as job
        where job.id = claim.id and job.past_attempts @> jsonb_build_array(
          jsonb_build_object('attempt', claim.attempt, 'serverId', claim.server_id, 'outcome', 'failed')))`);

/**
 * Citus forms of the statements that finish jobs. They write only on the queue's node, so a single commit there is
 * enough.
 */
export const completionForms: Forms = {
  ...Object.fromEntries(
    Object.entries(outcomes).flatMap(([name, outcome]) => [
      [`longshore-finish-${name}`, finish('plain', outcome)],
      [`longshore-finish-${name}-any`, finish('any', outcome)],
    ]),
  ),
  'longshore-already-finished': alreadyFinished,
};
