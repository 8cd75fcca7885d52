import type { BulkAction, JobFilter } from '@longshore/jobs/storage';
import { lastError } from '../jobs/job-columns.sql.js';
import { conditionsOf } from '../jobs/job-conditions.sql.js';
import { type Query, queryOf } from '../search/job-search.sql.js';
import { prepared, type Statement } from '../connection/statement.js';
import type { Position } from '../records/bulk-operations.sql.js';
import {
  detailsOf,
  moved,
  type MoveDetails,
  notYetRequested,
  pick,
  type Place,
  places,
  placeTables,
} from '../jobs/job-moves.sql.js';

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
  readonly place: Place;
  readonly filter: JobFilter;
  readonly details: MoveDetails;
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
 * One statement per place: $1 queue, $2 id, $3 last queue, $4 last id, $5 number of rows. Returns the position $5 rows
 * after ($1, $2), or no row if ($3, $4) comes earlier. A chunk scans no further than this position, so no statement
 * takes long.
 */
export const windowEnds = Object.fromEntries(places.map((place) => [place, windowEnd(place)])) as Readonly<
  Record<Place, Statement>
>;

function windowEnd(place: Place): Statement {
  const { table, finished } = placeTables[place];
  const order = finished ? 'id' : 'queue_id, id';
  const within = finished
    ? 'id > $2::uuid and id <= $4::uuid and $1::integer <= $3::integer'
    : '(queue_id, id) > ($1::integer, $2::uuid) and (queue_id, id) <= ($3::integer, $4::uuid)';
  return prepared(
    `longshore-bulk-window-${place}`,
    `
      select ${finished ? '0 as queue_id, id' : order} from longshore.${table}
      where ${within} order by ${order} offset $5::integer - 1 limit 1`,
  );
}

/** Builds the query that finds the next job of an operation without changing the job. */
export function bulkNext(request: ChunkRequest): Query {
  const { picked, values } = pickedBy({ ...request, limit: 1 });
  return queryOf(`with ${picked} select queue_id, id from picked`, values);
}

/**
 * Builds the statement that finds the next jobs of an operation and moves them.
 */
export function bulkChunk(request: ChunkRequest): Query {
  const { action, place, details } = request;
  const { finished } = placeTables[place];
  const { picked, values } = pickedBy(request);
  const operation = `$${values.push(request.operationId)}`;
  const detail = detailsOf(action, place, details)
    .map((value) => `$${values.push(value)}`)
    .join();
  return queryOf(
    `
      with ${picked},
      ${moved(action, place, detail)},
      recorded as (
        insert into longshore.bulk_operation_job (operation_id, job_id)
        select ${operation}::uuid, id from removed
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
  const { action, details, place, filter, queueIds, asOf, firstId, after, to, limit } = request;
  const { finished } = placeTables[place];
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const conditions = conditionsOf(filter, bind);
  const order = finished ? 'id' : 'queue_id, id';
  const positioned = (position: Position): string =>
    finished
      ? `${bind(position.id)}::uuid`
      : `(${bind(position.queueId)}::integer, ${bind(position.id)}::uuid)`;
  const all = [
    `(${order}) > ${positioned(after)}`,
    `(${order}) <= ${positioned(to)}`,
    `${finished ? 'finished_at' : 'created_at'} <= ${bind(asOf)}::timestamptz`,
    ...(firstId === undefined ? [] : [`id >= ${bind(firstId)}::uuid`]),
    ...(queueIds === undefined ? [] : [`queue_id = any(${bind(queueIds)}::integer[])`]),
    ...(place === 'running' ? [notYetRequested] : []),
    // A renamed job can get to a later place before the operation gets there.
    ...(action === 'rename' ? [`name <> ${bind(details.toName)}::text`] : []),
    ...conditions.chosen,
    ...conditions.ids,
    ...conditions.rows,
    ...conditions.error(finished ? 'error' : lastError),
    ...(finished || place === 'running' ? conditions.claimed : []),
    ...(finished ? conditions.finished : []),
  ];
  return { picked: pick(place, all, ` limit ${bind(limit)}::integer`), values };
}
