import type { Batch, ContinuationCondition } from '@longshore/jobs';
import { progressOf } from '@longshore/jobs/storage';
import { prepared } from '../connection/statement.js';
import { notYetRequested, type Place, placeTables } from '../jobs/job-moves.sql.js';

export interface BatchRow {
  id: string;
  name: string | null;
  total: number;
  done: number;
  failed: number;
  cancelled: number;
  callback_id: string | null;
  callback_when: ContinuationCondition | null;
  created_at: Date;
  finished_at: Date | null;
}

export function toBatch(row: BatchRow): Batch {
  const {
    callback_id: callbackId,
    callback_when: callbackWhen,
    created_at: createdAt,
    finished_at: finishedAt,
    ...counts
  } = row;
  return { ...counts, ...progressOf(counts), callbackId, callbackWhen, createdAt, finishedAt };
}

const columns =
  'id, name, total, done, failed, cancelled, callback_id, callback_when, created_at, finished_at';

/** $1 id, $2 name, $3 number of jobs, $4 id of the callback job and $5 when it runs, or null. An empty batch is finished immediately. */
export const insertBatch = prepared(
  'longshore-insert-batch',
  `
    insert into longshore.batch (id, name, total, callback_id, callback_when, finished_at)
    values ($1, $2, $3, $4, $5, case when $3::integer = 0 then now() end)`,
);

/** $1 id. */
export const selectBatch = prepared(
  'longshore-select-batch',
  `select ${columns} from longshore.batch where id = $1`,
);

/** $1 ids. */
export const selectBatches = prepared(
  'longshore-select-batches',
  `select ${columns} from longshore.batch where id = any($1::uuid[])`,
);

/**
 * SQL condition, each part of which is met if its parameter is null: $1 states, $2 names, $3 first id, $4 id to end before,
 * $5 time from which and $6 time before which batches have finished.
 */
const matching = `
    ($1::text[] is null or case when done + failed + cancelled < total then 'processing' when failed > 0 then 'failed'
      when cancelled > 0 then 'cancelled' else 'done' end = any($1))
    and ($2::text[] is null or name = any($2)) and ($5::timestamptz is null or finished_at >= $5)
    and ($6::timestamptz is null or finished_at < $6)
    and id >= coalesce($3::uuid, '00000000-0000-0000-0000-000000000000')
    and id < coalesce($4::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')`;

/**
 * $1 to $6 as in {@link matching}, $7 limit, $8 offset, $9 id of the batch to continue before, or null. Ids are ordered by
 * creation. Reads batches in this order until the page is full: 0.2 s for each million without a match.
 */
export const selectNewestBatches = prepared(
  'longshore-select-newest-batches',
  `
    select ${columns} from longshore.batch
    where ${matching} and id < coalesce($9::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
    order by id desc limit $7 offset $8`,
);

/** As {@link selectNewestBatches}, in the opposite order. */
export const selectOldestBatches = prepared(
  'longshore-select-oldest-batches',
  `
    select ${columns} from longshore.batch
    where ${matching} and id > coalesce($9::uuid, '00000000-0000-0000-0000-000000000000')
    order by id limit $7 offset $8`,
);

/** $1 to $6 as in {@link matching}, $7 number of batches at which counting stops. */
export const countSomeBatches = prepared(
  'longshore-count-some-batches',
  `select count(*)::integer as batches from (select 1 from longshore.batch where ${matching} order by id limit $7) as counted`,
);

/** $1 ids. Locks the batches until the transaction ends. */
export const lockBatches = prepared(
  'longshore-lock-batches',
  `select 1 from longshore.batch where id = any($1::uuid[]) order by id for update`,
);

/**
 * $1 ids; how much to add to their counts: $2 done, $3 failed, $4 cancelled. Locks must be held on the batches. For each
 * batch that has now ended, returns a row and adds an outbox row, so that the batch's dependents are released or
 * cancelled. A batch whose counts stay the same has ended only if it was open: reopened by a retry that ended as before.
 */
export const countBatches = prepared(
  'longshore-count-batches',
  `
    with change as materialized (
      select change.*, batch.finished_at as ended_at
      from unnest($1::uuid[], $2::integer[], $3::integer[], $4::integer[]) as change (id, done, failed, cancelled)
      join longshore.batch using (id)
    ),
    counted as (
      update longshore.batch
      set done = batch.done + change.done, failed = batch.failed + change.failed,
        cancelled = batch.cancelled + change.cancelled,
        finished_at = case
          when batch.done + batch.failed + batch.cancelled + change.done + change.failed + change.cancelled <> batch.total then null
          when (change.done, change.failed, change.cancelled) = (0, 0, 0) then coalesce(ended_at, now())
          else now() end
      from change where batch.id = change.id
      returning batch.id, batch.done, batch.failed, batch.cancelled, batch.finished_at, ended_at
    )
    insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
    select 0, id, 'processing',
      case when failed > 0 then 'failed' when cancelled > 0 then 'cancelled' else 'done' end::longshore.job_state,
      '{"hasDependents": true}'
    from counted where finished_at is not null and finished_at is distinct from ended_at
    returning true as finished`,
);

export interface MemberRow {
  queue_id: number;
  id: string;
  place: Place;
}

const ofBatch = `queue_id = any($1::integer[]) and meta ? 'batchId' and meta ->> 'batchId' = $2`;

/**
 * $1 queues, $2 batch, $3 limit. Returns jobs of a batch that are unfinished and not yet to be cancelled. All tables are
 * read in one snapshot, so a job that moves between them at this time is found nevertheless.
 */
export const selectMembers = prepared(
  'longshore-select-members-of-batch',
  `
    select queue_id, id, place from (
      ${(['awaiting', 'scheduled', 'blocked'] as const)
        .map(
          (place) =>
            `select queue_id, id, '${place}' as place from longshore.${placeTables[place].table} where ${ofBatch} union all`,
        )
        .join('\n      ')}
      select queue_id, id, case when server_id is null then 'ready' else 'running' end from longshore.job
      where ${ofBatch} and (server_id is null or ${notYetRequested})
    ) as member limit $3`,
);

export const deleteOldBatches = prepared(
  'longshore-delete-old-batches',
  `delete from longshore.batch where finished_at < now() - interval '30 days'`,
);
