import { maxFew } from '@longshore/jobs/storage';
import { becomeReady, hasKey } from '../jobs/become-ready.sql.js';
import { isShown } from '../queues/shown-queues.sql.js';
import { prepared } from '../connection/statement.js';
import type { Timestamp } from './due-cursor.js';

export interface DueRow {
  /** The snapshot of the statement, as `xmin:xmax:xip,…`. */
  snapshot: string;
  /** When the transaction started; not later than the snapshot. */
  at: Timestamp;
  /** The id of this transaction; `null` if none was requested. */
  mark: string | null;
  /** The id of the queue; `null` in the single row that is returned if no job is scheduled. */
  id: number | null;
  /**
   * Milliseconds until the queue's first job is due; negative if the job is overdue. Clamped to a day in either
   * direction, to avoid overflows. `null` if no job is scheduled.
   */
  due_in: number | null;
  /** When the queue's first job became due; `null` if it is not due yet. */
  due_at: Timestamp | null;
}

/**
 * How much earlier than a queue's start time the scan of the queue begins. Covers clock differences and the time
 * between reading a clock and storing the result.
 */
const margin = `interval '5 seconds'`;

/**
 * Selects the first scheduled job of each queue, starting `margin` before the queue's start time.
 *
 * - $1 default start time
 * - parallel arrays: $2 queues that start earlier, $3 their start times
 * - parallel arrays: $4 transaction ids, $5 times; once a transaction has ended, all queues start at its time or
 *   earlier
 * - $6 whether to assign an id to this transaction
 *
 * A start time lets the scan skip the dead index entries of promoted jobs. With `-infinity`, the scan begins at the
 * head of the index.
 */
export const nextDue = prepared(
  'longshore-next-due',
  `
    with ended as materialized (
      select min(since) as since from unnest($4::xid8[], $5::timestamptz[]) as transaction (id, since)
      where pg_visible_in_snapshot(id, pg_current_snapshot())
    )
    select pg_current_snapshot()::text as snapshot, now()::text as at,
      case when $6::boolean then pg_current_xact_id()::text end as mark, next.*
    from (values (1)) as one left join (
      select queue.id, first.run_at,
        extract(epoch from least(greatest(first.run_at, now() - interval '1 day'), now() + interval '1 day') - now())::float8 * 1000 as due_in,
        case when first.run_at <= now() then first.run_at::text end as due_at
      from longshore.queue
      left join unnest($2::integer[], $3::timestamptz[]) as earlier (queue_id, since) on earlier.queue_id = queue.id
      cross join lateral (
        select run_at from longshore.job_scheduled
        where queue_id = queue.id
          and run_at >= least(coalesce(earlier.since, $1::timestamptz), (select since from ended)) - ${margin}
        order by run_at limit 1
      ) as first
      where ${isShown}
    ) as next on true
    order by next.run_at`,
);

/**
 * SQL condition on a scheduled job: nobody has requested that it be cancelled. Such a request was made while the last
 * attempt ended, and is about to be carried out.
 */
export const notCancelled = `not exists (
        select 1 from longshore.job_cancellation as request
        where request.queue_id = $1 and request.job_id = job_scheduled.id)`;

export interface PromotedRow {
  promoted: number;
  /** Whether any promoted job has a concurrency key. Such a job is blocked until a slot of the key is free. */
  blocked: boolean;
  /** The jobs that are now ready, or the first of them if they are more than {@link maxFew}; null if there are none. */
  ready: readonly { readonly id: string; readonly name: string }[] | null;
  /** Milliseconds until the queue's next job is due, at most a day; null if there is none. */
  next_due_in: number | null;
}

/** $1 queue. The columns of {@link PromotedRow}, given a CTE `moved` with the promoted jobs. */
export const promotedColumns = `count(*)::integer as promoted, coalesce(bool_or(meta ? 'concurrencyKey'), false) as blocked,
      (
        select jsonb_agg(jsonb_build_object('id', id, 'name', name))
        from (select id, name from moved where not ${hasKey} limit ${maxFew + 1}) as first
      ) as ready, (
        select extract(epoch from least(run_at, now() + interval '1 day') - now())::float8 * 1000 from longshore.job_scheduled
        where queue_id = $1 and run_at > now() order by run_at limit 1
      ) as next_due_in`;

/**
 * $1 queue, $2 limit, $3 when the first due job became due. Makes due jobs ready. Several servers can run this at the
 * same time.
 */
export const promoteDue = prepared(
  'longshore-promote-due',
  promote(
    `queue_id = $1 and run_at >= $3::timestamptz and run_at <= now() and ${notCancelled} order by run_at limit $2`,
  ),
);

/** $1 queue, $2 ids. Makes these jobs ready if they are due. */
export const promoteSome = prepared(
  'longshore-promote-some',
  promote(`queue_id = $1 and run_at <= now() and id = any($2::uuid[]) and ${notCancelled} order by run_at`),
);

/** $1 queue, $2 ids to skip, $3 limit, $4 when the first due job became due. Selects due jobs. */
export const selectDue = prepared(
  'longshore-select-due',
  `
    select id from longshore.job_scheduled
    where queue_id = $1 and run_at >= $4::timestamptz and run_at <= now() and id <> all($2::uuid[])
    order by run_at limit $3`,
);

function promote(which: string): string {
  return `
    with due as materialized (
      select id from longshore.job_scheduled
      where ${which}
      for update skip locked
    ),
    moved as (
      delete from longshore.job_scheduled using due
      where job_scheduled.queue_id = $1 and job_scheduled.id = due.id
      returning job_scheduled.*
    ),
    ${becomeReady('moved', 'run_at')},
    counted as (
      insert into longshore.job_count (queue_id, state, jobs)
      select $1, change.state, change.sign * total.jobs
      from (select count(*) as jobs from moved) as total,
        (values ('scheduled'::longshore.job_state, -1), ('enqueued', 1)) as change (state, sign)
      where total.jobs > 0
    )
    select ${promotedColumns} from moved`;
}
