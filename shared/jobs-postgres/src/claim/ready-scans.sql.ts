import { prepared } from '../connection/statement.js';

/** What the database looked like at one instant, and the gaps that have closed since an earlier one. */
export interface ScanRow {
  /** `xmin:xmax:xip,…`, see "Snapshot information functions" in the manual of Postgres. */
  snapshot: string;
  /** The last place given out in any queue. */
  seq: string;
  /** The number of this transaction; `null` if the horizon has nothing to learn from one. */
  mark: string | null;
  /** Of the queues asked for that have other priorities than 0, by number; `null` if none has. */
  priorities: Record<string, number[]> | null;
  /** `null` in the one row that comes when no gap has closed. */
  queue_id: number | null;
  priority: number;
  first_seq: string;
  last_seq: string;
}

/**
 * $1 an earlier snapshot; null: only the present one is wanted. $2 queues, $3 the horizon: where no later place has been taken, as in an
 * idle store, the transaction gets no number. A gap has closed if its transaction had not begun then, or was
 * under way: the first are found by a range of the index and the others one by one, so that a transaction that stays open for
 * an hour makes nobody read an hour of dead entries.
 */
export const scanState = prepared(
  'longshore-scan-state',
  `
    with closed as (
      select queue_id, priority, first_seq, last_seq from longshore.job_gap
      where xid >= pg_snapshot_xmax($1::pg_snapshot)
      union all
      select queue_id, priority, first_seq, last_seq
      from pg_snapshot_xip($1::pg_snapshot) as under_way (id) join longshore.job_gap on job_gap.xid = under_way.id
    )
    select pg_current_snapshot()::text as snapshot, job_seq.last_value as seq,
      case when job_seq.last_value > $3::bigint then pg_current_xact_id()::text end as mark, closed.*, (
      select jsonb_object_agg(id, priorities) from longshore.queue where id = any($2::integer[]) and priorities <> '{}'
    ) as priorities
    from longshore.job_seq left join closed on true`,
);

/** $1 queue, $2 priorities. */
export const addPriorities = prepared(
  'longshore-add-priorities',
  `
    update longshore.queue
    set priorities = array(select distinct priority from unnest(priorities || $2::smallint[]) as priority order by priority)
    where id = $1 and not priorities @> $2::smallint[]`,
);

export interface ReadyPlaceRow {
  priority: number;
  seq: string;
}

/** How many ready jobs one sweep looks at. */
export const mostSwept = 1_000;

/**
 * $1 queue, $2 server. The first ready jobs that the server could run, from the head and without a lock: a scan behind a cursor
 * may have missed some of them. Passes over every dead entry, so it runs beside the claims, and the more it costs the more seldom.
 */
export const sweepReady = prepared(
  'longshore-sweep-ready',
  `
    with names as materialized (select job_names as handled from longshore.server where id = $2)
    select priority, seq from longshore.job
    where queue_id = $1 and server_id is null and coalesce(name = any ((select handled from names)::text[]), true)
    order by priority, seq limit ${mostSwept}`,
);

/**
 * How soon the places of an insert become visible. `soon`: its transaction ends with it, or right after. `late`: the transaction is
 * the caller's, who may take an hour; the places are noted as a gap.
 */
export type Visibility = 'soon' | 'late';

/** Part of a statement: notes the places of `source`, which its transaction may make visible long after later ones. */
export function gapNoted(source: string): string {
  return `
    gap as (
      insert into longshore.job_gap (queue_id, priority, first_seq, last_seq)
      select queue_id, priority, min(seq), max(seq) from ${source} group by queue_id, priority
    )`;
}

/** The last place given out in any queue. */
export const selectLastPlace = prepared(
  'longshore-select-last-place',
  'select last_value as seq from longshore.job_seq',
);

/** $1 queue, $2 priorities, $3 the last place given out before the first of these jobs. */
export const noteGaps = prepared(
  'longshore-note-gaps',
  `
    insert into longshore.job_gap (queue_id, priority, first_seq, last_seq)
    select $1::integer, priority, $3::bigint + 1, last_value from longshore.job_seq, unnest($2::smallint[]) as priority`,
);

/** $1 from which transaction on, $2 up to which (not included). Returns nothing. */
export const deleteGaps = prepared(
  'longshore-delete-gaps',
  `delete from longshore.job_gap where xid >= $1::xid8 and xid < $2::xid8`,
);

/** The oldest transaction under way; all before it have ended. */
export const oldestTransaction = prepared(
  'longshore-oldest-transaction',
  `select pg_snapshot_xmin(pg_current_snapshot())::text as xid`,
);
