import { type Forms, prepared } from '../connection/statement.js';
import { pausedTypes } from '../queues/pause.sql.js';

/**
 * The state that scans depend on. There is one row for each gap that has become visible since an earlier snapshot, or a
 * single row if there are no gaps.
 */
export interface ScanRow {
  /** `xmin:xmax:xip,…`, see "Snapshot information functions" in the Postgres manual. */
  snapshot: string;
  /** The last sequence number assigned in any queue. */
  seq: string;
  /**
   * The id of the reading transaction. `null` if no sequence number after the horizon has been assigned, because the
   * horizon then cannot advance.
   */
  mark: string | null;
  /** By queue id, the priorities other than 0 that the queue's jobs have had; `null` if there are none. */
  priorities: Record<string, number[]> | null;
  /** The queue of the gap. If there is no gap, this and the following columns are `null`. */
  queue_id: number | null;
  priority: number;
  first_seq: string;
  last_seq: string;
}

/** A {@link ScanRow} with the additional columns of {@link pollReady}. */
export interface PollRow extends ScanRow {
  alive: boolean;
  /** Ids of the queues with ready jobs in the scanned ranges. */
  ready: number[];
}

/** The queue id of the gaps by which `longshore.notify_on_commit` marks the commit of a caller's transaction. */
export const commitMark = 0;

/** What the scan state has about the commit horizon ({@link ScanRow}), as SQL. */
const horizon: Forms<Readonly<Record<'seq' | 'mark', string>>> = {
  none: {
    seq: 'job_seq.last_value as seq',
    mark: 'case when job_seq.last_value > $3::bigint then pg_current_xact_id()::text end',
  },
  // No snapshot shows which transactions have ended on all nodes, so there is no commit horizon. Polls for due jobs, and
  // scans that would start at the floor of a cursor, therefore start at the head of the queue.
  citus: { seq: '0::bigint as seq', mark: 'case when $3::bigint is null then null::text end' },
};

/**
 * Returns the text of a statement that reads the scan state.
 *
 * @param first CTEs that precede the others, each followed by a comma
 * @param more SQL for additional columns, each preceded by a comma
 */
function stateWith({ seq, mark }: (typeof horizon)['none'], first = '', more = ''): string {
  return `
    with ${first}closed as (
      select queue_id, priority, first_seq, last_seq from longshore.scan_gap
      where xid >= pg_snapshot_xmax($1::pg_snapshot)
      union all
      select queue_id, priority, first_seq, last_seq
      from pg_snapshot_xip($1::pg_snapshot) as under_way (id) join longshore.scan_gap on scan_gap.xid = under_way.id
      union all
      select queue_id, priority, first_seq, last_seq from longshore.scan_gap
      where $1::pg_snapshot is null and queue_id = ${commitMark}
    )
    select pg_current_snapshot()::text as snapshot, ${seq},
      ${mark} as mark, closed.*, (
      select jsonb_object_agg(id, priorities) from longshore.queue where id = any($2::integer[]) and priorities <> '{}'
    ) as priorities${more}
    from longshore.job_seq left join closed on true`;
}

/**
 * $1 an earlier snapshot, or null to return no gaps but the marks of callers' transactions; $2 queues; $3 the horizon. Reads the scan state. Gets a
 * transaction id only if sequence numbers after the horizon have been assigned, so an idle store uses up no transaction
 * ids.
 *
 * Returns the visible gaps of transactions that were in progress at the earlier snapshot or began after it. Looks up
 * gaps of the transactions in progress by id, and gaps of later transactions in an index range. A transaction that
 * stays open for an hour therefore does not make this statement read the dead index entries of that hour.
 */
export const scanState = prepared('longshore-scan-state', stateWith(horizon.none), stateWith(horizon.citus));

const isAlive = 'exists (select 1 from longshore.server where id = $4) as alive';

/**
 * Returns a CTE with the job names that a server handles, and with the paused job names.
 *
 * @param server the parameter with the server's id, for example `$2`
 */
const names = (server: string): string => `
    names as materialized (
      select job_names as handled, array(${pausedTypes}) as paused from longshore.server where id = ${server}
    )`;

/** SQL condition on a job: it is ready, and the server in {@link names} can run it. */
const isRunnable = `job.server_id is null and coalesce(job.name = any ((select handled from names)::text[]), true)
          and job.name <> all ((select paused from names)::text[])`;

/**
 * Polls all queues of a server in one statement, without claiming anything. Takes the parameters of {@link scanState}
 * and $4 server; parallel arrays of the ranges to scan: $5 queues, $6 priorities, $7 starts (exclusive), $8 ends
 * (inclusive). On Citus, each node reads the heads of the queues that it stores; `given` only declares the types of the
 * parameters that are then unused.
 */
export const pollReady = prepared(
  'longshore-poll-ready',
  stateWith(
    horizon.none,
    '',
    `, ${isAlive}, array(
      select distinct range.queue_id
      from unnest($5::integer[], $6::smallint[], $7::bigint[], $8::bigint[]) as range (queue_id, priority, after, up_to)
      cross join lateral (
        select 1 from longshore.job
        where job.queue_id = range.queue_id and job.priority = range.priority and job.seq > range.after
          and job.seq <= range.up_to and job.server_id is null
          and coalesce(job.name = any ((select job_names from longshore.server where id = $4)::text[]), true)
          and job.name <> all (array(${pausedTypes}))
        limit 1
      ) as first
    ) as ready`,
  ),
  stateWith(
    horizon.citus,
    `given as (select $6::smallint[], $7::bigint[], $8::bigint[]), ${names('$4')},
    ready as materialized (
      select node.queue_id
      from longshore.queue_node as node
      cross join lateral (select 1 from longshore.job where job.queue_id = node.queue_id and ${isRunnable} limit 1) as first
      where node.queue_id = any($5::integer[])
    ),
    `,
    `, ${isAlive}, array(select ready.queue_id from ready) as ready`,
  ),
);

export interface ReadyPlaceRow {
  queue_id: number;
  priority: number;
  seq: string;
}

/** Maximum number of ready jobs that a sweep reads in each queue. */
export const maxSwept = 1_000;

/**
 * $1 queues, $2 server. Reads the first ready jobs of each queue that the server can run, without locks. Starts at the
 * head, because claims start at a cursor and might have missed jobs before it. A sweep is slow if it has to skip many
 * dead index entries. Claims therefore do not wait for sweeps, and slow sweeps run less often.
 */
export const sweepReady = prepared(
  'longshore-sweep-ready',
  `
    with names as materialized (
      select job_names as handled, array(${pausedTypes}) as paused from longshore.server where id = $2
    )
    select swept.id as queue_id, first.priority, first.seq
    from unnest($1::integer[]) as swept (id)
    cross join lateral (
      select priority, seq from longshore.job
      where queue_id = swept.id and server_id is null and coalesce(name = any ((select handled from names)::text[]), true)
        and name <> all ((select paused from names)::text[])
      order by priority, seq limit ${maxSwept}
    ) as first`,
  `
    with ${names('$2')}
    select node.queue_id, first.priority, first.seq
    from longshore.queue_node as node
    cross join lateral (
      select job.priority, job.seq from longshore.job where job.queue_id = node.queue_id and ${isRunnable}
      order by job.priority, job.seq limit ${maxSwept}
    ) as first
    where node.queue_id = any($1::integer[])`,
);

/**
 * How soon jobs become visible after they are inserted. `soon`: the transaction ends with the insert or shortly after.
 * `late`: the transaction can stay open for a long time, for example because it belongs to the caller. The positions of
 * the jobs are then recorded as gaps.
 */
export type Visibility = 'soon' | 'late';

/**
 * Returns a CTE that records the positions of the jobs in `source` as gaps. Scans that have already passed these
 * positions return to them once the transaction has committed.
 */
export function gapCte(source: string): string {
  return `
    gap as (
      insert into longshore.scan_gap (queue_id, priority, first_seq, last_seq)
      select queue_id, priority, min(seq), max(seq) from ${source} group by queue_id, priority
    )`;
}

export const selectLastPlace = prepared(
  'longshore-select-last-place',
  'select last_value as seq from longshore.job_seq',
);

/**
 * $1 queue, $2 priorities, $3 a sequence number. Records a gap for each priority. Each gap covers all sequence numbers
 * assigned after $3.
 */
export const recordGaps = prepared(
  'longshore-note-gaps',
  `
    insert into longshore.scan_gap (queue_id, priority, first_seq, last_seq)
    select $1::integer, priority, $3::bigint + 1, last_value from longshore.job_seq, unnest($2::smallint[]) as priority`,
);

/** $1 first transaction id, $2 end of the range (exclusive). Deletes the gaps recorded by these transactions. */
export const deleteGaps = prepared(
  'longshore-delete-gaps',
  `delete from longshore.scan_gap where xid >= $1::xid8 and xid < $2::xid8`,
);

/**
 * Reads the id of the oldest transaction that might still be in progress. All transactions with lower ids have ended.
 */
export const oldestTransaction = prepared(
  'longshore-oldest-transaction',
  `select pg_snapshot_xmin(pg_current_snapshot())::text as xid`,
);
