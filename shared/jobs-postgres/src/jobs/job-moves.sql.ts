import type { JobState } from '@longshore/jobs';
import {
  bounds,
  type BulkAction,
  maxCountedAttempts,
  statesOfAction,
  storableReason,
} from '@longshore/jobs/storage';
import { prepared, type Statement } from '../connection/statement.js';
import { jobColumns, otherAttempts } from './job-columns.sql.js';
import { becomeReady } from './become-ready.sql.js';
import { transitionRecorded } from './job-transitions.sql.js';
import { awaitingCancelled, dependenciesResolved } from './awaiting-jobs.sql.js';
import { outboxEntries } from './outbox.sql.js';
import { gapCte } from './ready-scans.sql.js';
import { dueFrom } from '../connection/database.sql.js';

/**
 * How operators' actions move jobs: the same for one job, the members of a batch and all jobs that match a filter. A move
 * begins with a CTE named `picked`, which selects jobs of one {@link Place}.
 */
export type Move =
  'cancel' | 'retry' | 'retryIgnoringDependencies' | 'run' | 'reschedule' | 'rename' | 'delete';

/** The tables and parts of tables in which jobs are. `running` jobs are those that a server has claimed. */
export const places = [
  'awaiting',
  'scheduled',
  'blocked',
  'ready',
  'running',
  'done',
  'failed',
  'cancelled',
] as const;

export type Place = (typeof places)[number];

interface PlaceTable {
  readonly table: string;
  readonly state: JobState;
  readonly finished: boolean;
  /** SQL condition for the rows of the place; `null` if the place is the whole table. */
  readonly condition: string | null;
}

export const placeTables: Readonly<Record<Place, PlaceTable>> = {
  awaiting: { table: 'job_awaiting', state: 'awaiting', finished: false, condition: null },
  scheduled: { table: 'job_scheduled', state: 'scheduled', finished: false, condition: null },
  blocked: { table: 'job_blocked', state: 'enqueued', finished: false, condition: null },
  ready: { table: 'job', state: 'enqueued', finished: false, condition: 'job.server_id is null' },
  running: { table: 'job', state: 'processing', finished: false, condition: 'job.server_id is not null' },
  done: { table: 'job_history_done', state: 'done', finished: true, condition: null },
  failed: { table: 'job_history_failed', state: 'failed', finished: true, condition: null },
  cancelled: { table: 'job_history_cancelled', state: 'cancelled', finished: true, condition: null },
};

/** The places from which each move takes jobs. Unless it is a retry, a job that moves meanwhile gets to a later place. */
export const placesOf: Readonly<Record<Move, readonly Place[]>> = {
  cancel: placesWith('cancel'),
  retry: placesWith('retry'),
  retryIgnoringDependencies: placesWith('retry'),
  run: placesWith('run'),
  reschedule: placesWith('reschedule'),
  rename: placesWith('rename'),
  delete: placesWith('delete'),
};

/** Returns the places of the jobs that an action changes, in the order of {@link places}. */
function placesWith(action: BulkAction): Place[] {
  return places.filter((place) => statesOfAction[action].includes(placeTables[place].state));
}

export interface MovedRow {
  id: string;
  /** `false` if there was nothing to change: the cancellation of a running job had been requested before. */
  changed: boolean;
}

/** Returns the CTE `picked`, which selects jobs of a place that meet the conditions, in the order of their ids. */
export function pick(place: Place, conditions: readonly string[], limit = ''): string {
  const { table, finished, condition } = placeTables[place];
  const all = [...conditions, ...(condition === null ? [] : [condition])];
  return `picked as materialized (
      select queue_id, id${finished ? ', finished_at' : ''} from longshore.${table} as job
      where ${all.join(' and ')} order by ${finished ? 'id' : 'queue_id, id'}${limit}
    )`;
}

/** What some moves need to know besides the jobs. */
export interface MoveDetails {
  /** The reason for cancelling running jobs; `null` if none was given. */
  readonly reason?: string | null | undefined;
  /** When rescheduled jobs become ready. */
  readonly runAt?: Date | null | undefined;
  /** The new name of renamed jobs. */
  readonly toName?: string | null | undefined;
}

/** Returns the value of the details that a move from this place needs; nothing if it needs none. */
export function detailsOf(
  move: Move,
  place: Place,
  { reason, runAt = null, toName = null }: MoveDetails,
): unknown[] {
  if (move === 'reschedule') return [runAt?.toISOString() ?? null];
  if (move === 'rename') return [toName];
  return place === 'running' ? [storableReason(reason)] : [];
}

/**
 * Returns CTEs that move the picked jobs. The last of them is followed by no comma; `removed` has the ids and queues of
 * the jobs that have changed.
 *
 * @param details the parameter with the value of {@link detailsOf}, such as `$3`
 * @param more a condition on the rows of the table, for statements that concern one queue
 */
export function moved(move: Move, place: Place, details: string, more?: string): string {
  if (move === 'reschedule') return rescheduled(`${details}::timestamptz`, more);
  if (move === 'rename') return renamed(place, `${details}::text`, more);
  if (place === 'running') return cancellationsRequested(`${details}::text`);
  return `${removedFrom(place, more)}, ${arrivals[move](place)}`;
}

const arrivals: Readonly<Record<Exclude<Move, 'reschedule' | 'rename'>, (from: Place) => string>> = {
  cancel: becomeCancelled,
  retry: () => becomeReadyAgain(neverStarted),
  retryIgnoringDependencies: () => becomeReadyAgain('false'),
  run: becomeReadyNow,
  delete: () => deleteWithReports,
};

/**
 * Returns the CTE `removed`, which deletes the picked jobs. For finished jobs, also compares `finished_at`, so that
 * Postgres does not search the partitions of other days.
 */
function removedFrom(place: Place, more?: string): string {
  const { table, state, finished, condition } = placeTables[place];
  const same = finished
    ? 'job.id = picked.id and job.finished_at = picked.finished_at'
    : 'job.queue_id = picked.queue_id and job.id = picked.id';
  const all = [same, ...(more === undefined ? [] : [more]), ...(condition === null ? [] : [condition])];
  return `removed as (
      delete from longshore.${table} as job using picked where ${all.join(' and ')}
      returning job.*${finished ? `, '${state}'::longshore.job_state as state` : ''}
    )`;
}

/** SQL condition on a running job: nobody has asked to cancel it. */
export const notYetRequested = `not exists (
  select 1 from longshore.job_cancellation as request where request.queue_id = job.queue_id and request.job_id = job.id)`;

function cancellationsRequested(reason: string): string {
  return `removed as (
      insert into longshore.job_cancellation (queue_id, job_id, reason) select queue_id, id, ${reason} from picked
      on conflict (queue_id, job_id) do nothing
      returning queue_id, job_id as id
    )`;
}

/** Returns CTEs that change when the picked scheduled jobs become ready. They stay in their table. */
function rescheduled(runAt: string, more?: string): string {
  const same = `job.queue_id = picked.queue_id and job.id = picked.id${more === undefined ? '' : ` and ${more}`}`;
  return `locked as materialized (
      select job.* from longshore.job_scheduled as job join picked on ${same} order by job.queue_id, job.id for update of job
    ),
    ${transitionRecorded('locked', 'rescheduled', { runAt: 'run_at' })},
    removed as (
      update longshore.job_scheduled as job set run_at = ${dueFrom(runAt)} from locked
      where job.queue_id = locked.queue_id and job.id = locked.id${more === undefined ? '' : ` and ${more}`}
      returning job.queue_id, job.id
    )`;
}

/**
 * Returns CTEs that rename the picked jobs, which have not started. They stay where they are. Scans have moved on past
 * ready jobs that nobody handled, so their positions are recorded as gaps.
 */
function renamed(place: Place, toName: string, more?: string): string {
  const { table, condition } = placeTables[place];
  const conditions = [
    'job.queue_id = picked.queue_id and job.id = picked.id',
    ...(more === undefined ? [] : [more]),
    ...(condition === null ? [] : [condition]),
  ];
  const isReady = place === 'ready';
  return `removed as (
      update longshore.${table} as job set name = ${toName} from picked where ${conditions.join(' and ')}
      returning job.queue_id, job.id${isReady ? ', job.priority, job.seq' : ''}
    )${isReady ? `,${gapCte('removed')}` : ''}`;
}

/**
 * Returns the CTE `counted`, which updates the counters.
 *
 * @param from SQL expression for the previous state
 * @param to SQL expression for the new state; `null` if the jobs are deleted
 * @param source the CTE with the jobs
 */
function counted(from: string, to: string | null, source = 'removed'): string {
  const change = (state: string, jobs: string): string =>
    `select queue_id, ${state}, ${jobs} from ${source} group by queue_id, ${state}`;
  return `
    counted as (
      insert into longshore.job_count (queue_id, state, jobs)
      ${change(from, '-count(*)')} ${to === null ? '' : `union all ${change(to, 'count(*)')}`}
    )`;
}

const literal = (state: string): string => `'${state}'::longshore.job_state`;

/** Returns CTEs that put the removed jobs, which have not started, to the cancelled ones. */
function becomeCancelled(from: Place): string {
  const { state } = placeTables[from];
  const columns = from === 'ready' ? `${jobColumns}, ready_at` : jobColumns;
  const history =
    from === 'awaiting'
      ? awaitingCancelled()
      : `
    history as (
      insert into longshore.job_history_cancelled (${columns}) select ${columns} from removed
    ), ${outboxEntries('removed', literal(state), literal('cancelled'))}`;
  return `${history}, ${counted(literal(state), literal('cancelled'))}`;
}

/** SQL expression for the number of attempts that a retried job has had, limited so that one more is possible. */
const attemptsSoFar = `least(attempt, ${maxCountedAttempts - 1})`;

/** SQL condition on a history row: the job was cancelled while it waited for other jobs. */
const neverStarted = `attempt = 0 and state = 'cancelled'
  and exists (select 1 from longshore.job_dependency where child_id = id and not met)`;

/**
 * Returns CTEs that make finished jobs ready again, or make them wait for other jobs again. An attempt that ended with
 * an error is added to the past attempts. If no attempt is left, one more is allowed. Values out of range are clamped.
 *
 * @param waits SQL condition for the jobs that must wait for other jobs again
 */
export function becomeReadyAgain(waits: string): string {
  const next = `case when waits then 'awaiting' else 'enqueued' end::longshore.job_state`;
  return `
    again as materialized (select removed.*, ${waits} as waits from removed),
    revived as (
      select waits, queue_id, id, created_at, case when run_at is not null then least(greatest(run_at, 'epoch'), '9999-12-31T23:59:59.999Z') end as run_at,
        least(greatest(priority, ${bounds.priority.min}), ${bounds.priority.max})::smallint as priority, ${attemptsSoFar} as attempt,
        least(greatest(max_attempts, ${attemptsSoFar} + 1), ${maxCountedAttempts})::smallint as max_attempts, name, args, meta, case when server_id is null or error is null then past_attempts
        else ${otherAttempts} || jsonb_build_object(
          'attempt', attempt, 'outcome', state, 'serverId', server_id, 'startedAt', started_at, 'finishedAt', finished_at, 'error', error)
        end as past_attempts
      from again
    ),
    ${becomeReady('(select * from revived where not waits) as arriving', 'id')},
    restored as (
      insert into longshore.job_awaiting (${jobColumns}, delay_ms)
      select ${jobColumns}, (meta ->> 'delayMs')::float8 from revived where waits
    ),
    reopened as (
      update longshore.job_dependency set resolved_at = null, marked = false
      where child_id = any (array(select id from again where waits)) and not met
    ),
    ${transitionRecorded('again', 'retried', {
      waits: 'case when waits then true end',
      state: 'state',
      runAt: 'run_at',
      readyAt: 'ready_at',
      startedAt: 'started_at',
      serverId: 'server_id',
      finishedAt: 'finished_at',
      error: 'case when server_id is null then error end',
    })},
    request as (
      delete from longshore.job_cancellation using removed
      where job_cancellation.queue_id = removed.queue_id and job_id = removed.id
    ),
    ${outboxEntries('again', 'state', next)}, ${counted('state', next, 'again')}`;
}

/** Returns CTEs that make scheduled or awaiting jobs ready, even if they are not due and their parents have not ended. */
function becomeReadyNow(from: Place): string {
  const resolved = from === 'awaiting' ? `${dependenciesResolved}, ` : '';
  const { state } = placeTables[from];
  return `${resolved}${becomeReady('removed', 'id')}, ${transitionRecorded('removed', 'run', { runAt: 'run_at' })}, ${counted(literal(state), literal('enqueued'))}`;
}

/**
 * CTEs that delete the reports of the removed finished jobs and update the counters. The condition on `started_at`
 * keeps Postgres from searching the partitions of other days.
 */
const deleteWithReports = `
    reports as (
      delete from longshore.job_report as report using removed
      where report.queue_id = removed.queue_id and report.job_id = removed.id
        and report.started_at between removed.created_at and removed.finished_at
    ),
    steps as (
      delete from longshore.job_step as step using removed where step.queue_id = removed.queue_id and step.job_id = removed.id
    ),
    signals as (
      delete from longshore.job_signal as signal using removed where signal.queue_id = removed.queue_id and signal.job_id = removed.id
    ), ${counted('state', null)}`;

/**
 * Statements that move jobs by their ids: $1 queue, $2 ids, $3 the value of {@link detailsOf} if there is one. Each returns the jobs that it found in its place; those that
 * are elsewhere stay as they are.
 */
export const moveJobs = Object.fromEntries(
  Object.entries(placesOf).map(([move, from]) => [
    move,
    Object.fromEntries(from.map((place) => [place, moveByIds(move as Move, place)])),
  ]),
) as Readonly<Record<Move, Readonly<Partial<Record<Place, Statement>>>>>;

function moveByIds(move: Move, place: Place): Statement {
  const ofQueue = 'job.queue_id = $1::integer';
  const found =
    place === 'running'
      ? 'select id, true as changed from removed union all select id, false from picked where not exists (select 1 from removed where removed.id = picked.id)'
      : 'select id, true as changed from removed';
  return prepared(
    `longshore-move-${move.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}-${place}`,
    `
    with ${pick(place, [ofQueue, 'id = any($2::uuid[])'])},
    ${moved(move, place, '$3', ofQueue)}
    ${found}`,
  );
}
