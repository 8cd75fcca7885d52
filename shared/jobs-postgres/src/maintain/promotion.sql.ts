import { maxFew } from '@longshore/jobs/storage';
import { jobColumns } from '../jobs/job-columns.sql.js';
import { jobNumbers, numberOf, outboxNumbers, seqOf } from '../jobs/drawn-numbers.sql.js';
import { becomeReady, hasKey } from '../jobs/become-ready.sql.js';
import { isShown } from '../queues/pause.sql.js';
import { prepared, type Statement } from '../connection/statement.js';
import type { Timestamp } from './due-cursor.js';

export interface DueRow {
  /** The snapshot of the statement, as `xmin:xmax:xip,…`. */
  snapshot: string;
  /** When the transaction started; not later than the snapshot. */
  at: Timestamp;
  /** The id of this transaction; `null` if none was requested. */
  mark: string | null;
  /** Milliseconds until a concurrency key has a token for a blocked job; negative if it has, `null` if none waits. */
  keys_due_in: number | null;
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

/** SQL for the column of {@link DueRow} with this name. */
const keysDueIn = `(
      select extract(epoch from least(min(wake_at), now() + interval '1 day') - now())::float8 * 1000 from longshore.key_rate
      where wake_at is not null
    ) as keys_due_in`;

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
 * head of the index. On Citus, where no snapshot shows which transactions have ended on all nodes, every scan begins there;
 * `given` only declares the types of the parameters.
 */
export const nextDue = prepared(
  'longshore-next-due',
  `
    with ended as materialized (
      select min(since) as since from unnest($4::xid8[], $5::timestamptz[]) as transaction (id, since)
      where pg_visible_in_snapshot(id, pg_current_snapshot())
    )
    select pg_current_snapshot()::text as snapshot, now()::text as at,
      case when $6::boolean then pg_current_xact_id()::text end as mark, ${keysDueIn}, next.*
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
  `
    with given as (select $1::timestamptz, $2::integer[], $3::timestamptz[], $4::xid8[], $5::timestamptz[], $6::boolean),
    keys as materialized (
      select extract(epoch from least(min(wake_at), now() + interval '1 day') - now())::float8 * 1000 as due_in
      from longshore.key_rate where queue_id > 0
    ),
    first as materialized (
      select node.queue_id as id, first.run_at
      from longshore.queue_node as node
      cross join lateral (
        select run_at from longshore.job_scheduled where job_scheduled.queue_id = node.queue_id order by run_at limit 1
      ) as first
    )
    select pg_current_snapshot()::text as snapshot, now()::text as at, null::text as mark, keys.due_in as keys_due_in, next.*
    from (values (1)) as one cross join keys left join (
      select first.id, first.run_at,
        extract(epoch from least(greatest(first.run_at, now() - interval '1 day'), now() + interval '1 day') - now())::float8 * 1000 as due_in,
        case when first.run_at <= now() then first.run_at::text end as due_at
      from first
    ) as next on true
    order by next.run_at`,
);

/**
 * SQL condition on a scheduled job: nobody has requested that it be cancelled. Such a request was made while the last
 * attempt ended, and is about to be carried out.
 */
const notCancelled = `not exists (
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
const promotedColumns = `count(*)::integer as promoted, coalesce(bool_or(meta ? 'concurrencyKey'), false) as blocked,
      (
        select jsonb_agg(jsonb_build_object('id', id, 'name', name))
        from (select id, name from moved where not ${hasKey} limit ${maxFew + 1}) as first
      ) as ready, (
        select extract(epoch from least(run_at, now() + interval '1 day') - now())::float8 * 1000 from longshore.job_scheduled
        where queue_id = $1 and run_at > now() order by run_at limit 1
      ) as next_due_in`;

/** Promoted jobs wait from their scheduled time, even if no server was there to promote them. */
const dueColumns = `${jobColumns}, due_at`;

/** A FROM item with the due jobs, numbered by scheduled time. The first CTE has locked these jobs. */
const dueOnNode = `(
        select *, run_at as due_at, row_number() over (order by run_at) as place from longshore.job_scheduled
        where queue_id = $1 and id = any ((select all_of from ids)::uuid[])
      ) as due`;

const insertedOnNode = (table: string, condition: string): string => `
      insert into longshore.${table} (${dueColumns}, seq)
      select ${dueColumns}, ${seqOf('place')} from ${dueOnNode} where ${condition}`;

/**
 * $1 queue, $2 limit, $3 when the first due job became due. Makes due jobs ready. Several servers can run this at the
 * same time.
 */
export const promoteDue = promotion(
  'longshore-promote-due',
  `queue_id = $1 and run_at >= $3::timestamptz and run_at <= now() and ${notCancelled} order by run_at limit $2`,
);

/** $1 queue, $2 ids. Makes these jobs ready if they are due. */
export const promoteSome = promotion(
  'longshore-promote-some',
  `queue_id = $1 and run_at <= now() and id = any($2::uuid[]) and ${notCancelled} order by run_at`,
);

/** $1 queue, $2 ids to skip, $3 limit, $4 when the first due job became due. Selects due jobs. */
export const selectDue = prepared(
  'longshore-select-due',
  `
    select id from longshore.job_scheduled
    where queue_id = $1 and run_at >= $4::timestamptz and run_at <= now() and id <> all($2::uuid[])
    order by run_at limit $3`,
);

/** @param which SQL after `where`: the condition, the order and any limit */
function promotion(name: string, which: string): Statement {
  return prepared(name, promote(which), promoteOnNode(which));
}

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
    arriving as (select *, run_at as due_at from moved),
    ${becomeReady('arriving', 'run_at', { columns: dueColumns })},
    counted as (
      insert into longshore.job_count (queue_id, state, jobs)
      select $1, change.state, change.sign * total.jobs
      from (select count(*) as jobs from moved) as total,
        (values ('scheduled'::longshore.job_state, -1), ('enqueued', 1)) as change (state, sign)
      where total.jobs > 0
    )
    select ${promotedColumns} from moved`;
}

/**
 * Returns the text, for Citus, of a statement that makes due jobs ready. Every CTE that reads or writes jobs is a single
 * task on the queue's node.
 */
function promoteOnNode(which: string): string {
  return `
    with locked as materialized (select id from longshore.job_scheduled where ${which} for update skip locked),
    ids as materialized (select array_agg(id) as all_of from locked), ${jobNumbers('locked')}, ${outboxNumbers('locked')},
    ready as (${insertedOnNode('job', `not ${hasKey}`)}),
    blocked as (${insertedOnNode('job_blocked', hasKey)}),
    arrived as (
      insert into longshore.outbox (id, queue_id, job_id, from_state, to_state, meta)
      select distinct on (meta -> 'concurrencyKey') ${numberOf('place')}, queue_id, id, 'enqueued'::longshore.job_state,
        'enqueued'::longshore.job_state, jsonb_build_object('concurrencyKey', meta -> 'concurrencyKey')
      from ${dueOnNode} where ${hasKey}
    ),
    counted as (
      insert into longshore.job_count (queue_id, state, jobs)
      select queue_id, change.state, change.sign * count(*)
      from ${dueOnNode}, (values ('scheduled'::longshore.job_state, -1), ('enqueued', 1)) as change (state, sign)
      group by queue_id, change.state, change.sign
    ),
    moved as (
      delete from longshore.job_scheduled where queue_id = $1 and id = any ((select all_of from ids)::uuid[]) returning id, name, meta
    )
    select ${promotedColumns} from moved`;
}
