import type { BulkAction, JobFilter } from '@longshore/jobs/storage';
import { jobColumns, lastError } from '../read/job-columns.sql.js';
import { dependenciesResolved } from '../dependencies/awaiting-jobs.sql.js';
import { conditionsOf } from '../read/job-conditions.sql.js';
import { type Query, queryOf } from '../read/job-search.sql.js';
import { prepared, type Statement } from '../connection/statement.js';
import { type Position, type Stage, stages, stageTables } from './bulk-walk.js';
import {
  becomeCancelled,
  deleteWithReports,
  becomeReadyAgain,
  becomeReadyNow,
  neverStarted,
} from './control-moves.sql.js';

export interface ChunkRow {
  seen: number;
  changed: number;
  /** Ids of the retried jobs and of their batches; empty for other actions. */
  parents: string[];
  /** Ids of the queues of the changed jobs. */
  queues: number[];
  /** Queue id of the last job found; `null`, like `id`, if no job was found. */
  queue_id: number | null;
  id: string | null;
}

export interface ChunkRequest {
  readonly action: BulkAction;
  readonly stage: Stage;
  readonly filter: JobFilter;
  readonly queueIds: readonly number[] | undefined;
  /** The operation's id, which is recorded with each changed job. */
  readonly operationId: string;
  /** Unfinished jobs created after this time and finished jobs that finished after this time are skipped. */
  readonly asOf: string;
  /** The lowest id to change; `undefined` for no limit. */
  readonly firstId: string | undefined;
  /** Start of the range to search, exclusive. */
  readonly after: Position;
  /** End of the range to search, inclusive. */
  readonly to: Position;
  /** Maximum number of jobs to find. */
  readonly limit: number;
}

/**
 * One statement per stage: $1 queue, $2 id, $3 last queue, $4 last id, $5 number of rows. Returns the position $5 rows
 * after ($1, $2), or no row if ($3, $4) comes earlier. A chunk scans no further than this position, so no statement
 * takes long.
 */
export const windowEnds = Object.fromEntries(stages.map((stage) => [stage, windowEnd(stage)])) as Readonly<
  Record<Stage, Statement>
>;

function windowEnd(stage: Stage): Statement {
  const { table, finished } = stageTables[stage];
  const place = finished ? 'id' : 'queue_id, id';
  const within = finished
    ? 'id > $2::uuid and id <= $4::uuid and $1::integer <= $3::integer'
    : '(queue_id, id) > ($1::integer, $2::uuid) and (queue_id, id) <= ($3::integer, $4::uuid)';
  return prepared(
    `longshore-bulk-window-${stage}`,
    `
      select ${finished ? '0 as queue_id, id' : place} from longshore.${table}
      where ${within} order by ${place} offset $5::integer - 1 limit 1`,
  );
}

/** Builds the query that finds the next job of an operation without changing the job. */
export function bulkNext(request: ChunkRequest): Query {
  const { picked, values } = pickedBy({ ...request, limit: 1 });
  return queryOf(`with ${picked} select queue_id, id from picked`, values);
}

/**
 * Builds the statement that finds the next jobs of an operation and changes them. The statements in
 * `job-control.sql.ts` change single jobs in the same way.
 */
export function bulkChunk(request: ChunkRequest): Query {
  const { action, stage } = request;
  const { finished } = stageTables[stage];
  const { picked, values } = pickedBy(request);
  const operation = `$${values.push(request.operationId)}`;
  return queryOf(
    `
      with ${picked},
      ${stage === 'running' ? requested : `${removed(stage)}, ${moves[action](stage)}`},
      recorded as (
        insert into longshore.bulk_operation_job (operation_id, job_id)
        select ${operation}::uuid, ${stage === 'running' ? 'job_id' : 'id'} from removed
        on conflict do nothing
      ),
      total as materialized (select count(*)::integer as changed, array_agg(distinct queue_id) as queues from removed),
      farthest as (select queue_id, id from picked order by ${finished ? 'id desc' : 'queue_id desc, id desc'} limit 1)
      select (select count(*) from picked)::integer as seen, changed,
        ${action === 'retry' ? `array(select id::text from removed union select meta ->> 'batchId' from removed where meta ? 'batchId')` : `'{}'::text[]`} as parents, coalesce(queues, '{}') as queues, farthest.queue_id,
        farthest.id
      from total left join farthest on true`,
    values,
  );
}

/** Returns the CTE `picked`, which selects the next jobs of an operation, and the query parameters. */
function pickedBy(request: ChunkRequest): { picked: string; values: unknown[] } {
  const { stage, filter, queueIds, asOf, firstId, after, to, limit } = request;
  const { table, finished, condition } = stageTables[stage];
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const conditions = conditionsOf(filter, bind);
  const place = finished ? 'id' : 'queue_id, id';
  const positioned = (position: Position): string =>
    finished
      ? `${bind(position.id)}::uuid`
      : `(${bind(position.queueId)}::integer, ${bind(position.id)}::uuid)`;
  const all = [
    `(${place}) > ${positioned(after)}`,
    `(${place}) <= ${positioned(to)}`,
    `${finished ? 'finished_at' : 'created_at'} <= ${bind(asOf)}::timestamptz`,
    ...(firstId === undefined ? [] : [`id >= ${bind(firstId)}::uuid`]),
    ...(queueIds === undefined ? [] : [`queue_id = any(${bind(queueIds)}::integer[])`]),
    ...(condition === null ? [] : [condition]),
    ...(stage === 'running' ? [notYetRequested] : []),
    ...conditions.chosen,
    ...conditions.ids,
    ...conditions.rows,
    ...conditions.error(finished ? 'error' : lastError),
    ...(finished || stage === 'running' ? conditions.claimed : []),
    ...(finished ? conditions.finished : []),
  ];
  const picked = `picked as materialized (
        select queue_id, id${finished ? ', finished_at' : ''} from longshore.${table} as job
        where ${all.join(' and ')} order by ${place} limit ${bind(limit)}::integer
      )`;
  return { picked, values };
}

const moves: Record<BulkAction, (stage: Stage) => string> = {
  cancel: (stage) => {
    if (stage === 'awaiting' || stage === 'scheduled') return becomeCancelled(stage);
    return becomeCancelled('enqueued', stage === 'ready' ? `${jobColumns}, ready_at` : jobColumns);
  },
  retry: () => becomeReadyAgain(neverStarted),
  run: (stage) =>
    stage === 'awaiting'
      ? `${dependenciesResolved}, ${becomeReadyNow('awaiting')}`
      : becomeReadyNow('scheduled'),
  delete: () => deleteWithReports,
};

/**
 * Returns the CTE `removed`, which deletes the picked jobs. For finished jobs, also compares `finished_at`, so that
 * Postgres does not search the partitions of other days.
 */
function removed(stage: Stage): string {
  const { table, state, finished, condition } = stageTables[stage];
  const same = finished
    ? 'job.id = picked.id and job.finished_at = picked.finished_at'
    : 'job.queue_id = picked.queue_id and job.id = picked.id';
  return `
      removed as (
        delete from longshore.${table} as job using picked
        where ${same}${condition === null ? '' : ` and ${condition}`} returning job.*${finished ? `, '${state}'::longshore.job_state as state` : ''}
      )`;
}

const notYetRequested = `not exists (
  select 1 from longshore.job_cancellation as request where request.queue_id = job.queue_id and request.job_id = job.id)`;

const requested = `
      removed as (
        insert into longshore.job_cancellation (queue_id, job_id) select queue_id, id from picked
        on conflict (queue_id, job_id) do nothing
        returning queue_id, job_id
      )`;
