import { prepared } from '../connection/statement.js';
import { isPaused, pausedTypes } from '../queues/pause.sql.js';
import type { CreatedRow } from '../jobs/inserts.sql.js';

/** The single row that {@link insertLeased} returns. */
export interface LeasedRow extends Required<CreatedRow> {
  /** Whether the jobs are leased to the server. If not, they are ready. */
  readonly is_leased: boolean;
}

/**
 * Inserts jobs of one name with a lease, as if the server had claimed them right after the insert. The jobs are ready
 * instead if the server is not registered, the queue or the job type is paused, or the queue has limits. Locks the
 * server's row, as a claim does, so that the rescuer cannot delete it during the insert.
 *
 * $1 queue, $2 ids, $3 arguments, $4 name, $5 priority, $6 maximum attempts, $7 metadata, $8 server, $9 lease in ms.
 */
export const insertLeased = prepared(
  'longshore-insert-leased',
  `
    with consumer as materialized (
      select id from longshore.server
      where id = $8 and $4::text <> all (array(${pausedTypes})) and not exists (
        select 1 from longshore.queue
        where id = $1 and (${isPaused} or concurrency_limit is not null or rate_limit is not null))
      for key share
    ),
    inserted as (
      insert into longshore.job
        (queue_id, id, name, priority, max_attempts, args, meta, server_id, attempt, started_at, lease_until)
      select $1, new.id, $4::text, $5::smallint, $6::smallint, args, meta, consumer.id, (consumer.id is not null)::integer,
        case when consumer.id is not null then clock_timestamp() end,
        case when consumer.id is not null then now() + $9::float8 * interval '1 millisecond' end
      from rows from (unnest($2::uuid[]), jsonb_array_elements($3::jsonb), unnest($7::jsonb[])) as new (id, args, meta)
      left join consumer on true
    ),
    counted as (
      insert into longshore.job_count (queue_id, state, jobs)
      select $1, (case when exists (select 1 from consumer) then 'processing' else 'enqueued' end)::longshore.job_state,
        cardinality($2::uuid[])
    )
    select now() as created_at, exists (select 1 from consumer) as is_leased`,
);
