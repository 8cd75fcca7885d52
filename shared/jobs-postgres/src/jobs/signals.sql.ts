import { prepared } from '../connection/statement.js';
import { anyQueue } from './find-jobs.sql.js';
import { inLiveTables } from './job-columns.sql.js';

export interface LiveRow {
  queue_id: number;
  id: string;
}

/** $1 ids. Returns the unfinished ones of these jobs with their queues. */
export const findLive = prepared(
  'longshore-find-live',
  `
    select found.* from longshore.queue cross join lateral (
      ${inLiveTables((table) => `select queue_id, id from longshore.${table} where queue_id = queue.id and id = any($1::uuid[])`)}
    ) as found`,
  inLiveTables(
    (table) => `select queue_id, id from longshore.${table} where id = any($1::uuid[]) and ${anyQueue}`,
  ),
);

/** $1 key, $2 limit. Returns unfinished jobs that were enqueued with this key for signals. */
export const findCorrelated = prepared(
  'longshore-find-correlated',
  `
    select found.* from longshore.queue cross join lateral (
      ${inLiveTables((table) => `select queue_id, id from longshore.${table} where queue_id = queue.id and meta ? 'correlate' and meta ->> 'correlate' = $1::text`)}
    ) as found
    order by id limit $2`,
  `
    select * from (
      ${inLiveTables((table) => `select queue_id, id from longshore.${table} where meta ? 'correlate' and meta ->> 'correlate' = $1::text and ${anyQueue}`)}
    ) as found
    order by id limit $2`,
);

/** $1 ids. Returns how those of these jobs have ended that are in history. */
export const findEnds = prepared(
  'longshore-find-ends',
  `select id, state, result, case when state <> 'done' then error end as error from longshore.job_history where id = any($1::uuid[])`,
);

/** $1 queue; parallel arrays: $2 jobs, $3 names, $4 ids, $5 data. Stores signals, except those that the jobs have already. */
export const storeSignals = prepared(
  'longshore-store-signals',
  `
    insert into longshore.job_signal (queue_id, job_id, name, id, data)
    select $1::integer, job_id, name, id, data
    from unnest($2::uuid[], $3::text[], $4::text[], $5::jsonb[]) as sent (job_id, name, id, data)
    on conflict (queue_id, job_id, name, id) do nothing`,
);

/** $1 queue, $2 ids. Has the relay look at these jobs again. */
export const noteSignals = prepared(
  'longshore-note-signals',
  `
    insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
    select $1::integer, id, 'processing', 'processing', '{"signalled": true}'::jsonb from unnest($2::uuid[]) as id`,
);

/** $1 queue, $2 ids. Requests that these jobs be cancelled, whatever their states. */
export const requestCancellations = prepared(
  'longshore-request-cancellations',
  `
    insert into longshore.job_cancellation (queue_id, job_id)
    select $1::integer, id from unnest($2::uuid[]) as id order by id
    on conflict (queue_id, job_id) do nothing`,
);

/** $1 ids. Returns those of these jobs that were moved to another queue, and the queues that they are in now. */
export const findMoved = prepared(
  'longshore-find-moved',
  'select queue_id, job_id as id from longshore.moved_job where job_id = any($1::uuid[])',
);

/**
 * $1 queue, $2 ids, $3 queue that these jobs are in now. Moves the signals that were sent to the old queue while the jobs were
 * being moved, and has the relay look at these jobs again, because they may be moved once more.
 */
export const moveSignals = prepared(
  'longshore-move-signals',
  `
    with taken as (
      delete from longshore.job_signal where queue_id = $1 and job_id = any($2::uuid[]) returning *
    ),
    noted as (
      insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
      select distinct $3::integer, job_id, 'processing'::longshore.job_state, 'processing'::longshore.job_state, '{"signalled": true}'::jsonb
      from taken
    )
    insert into longshore.job_signal (queue_id, job_id, name, id, data, at, sent_by)
    select $3::integer, job_id, name, id, data, at, sent_by from taken
    on conflict (queue_id, job_id, name, id) do nothing`,
);
