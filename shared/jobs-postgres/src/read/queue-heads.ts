import { arrayOf } from '../connection/array-literal.js';
import { CommitHorizon } from '../claim/commit-horizon.js';
import type { Database } from '../connection/database.js';
import { PacedScan } from '../claim/paced-scan.js';
import { prepared } from '../connection/statement.js';
import { isShown } from './shown-queues.sql.js';

/** So many first jobs are looked at, 70 ms at most: each of a queue and a priority. */
export const mostHeads = 20_000;

/** The first ready job of a queue and a priority. */
export interface HeadRow {
  readonly id: number;
  /** These three are `null` in the one row of a queue that has none. */
  readonly priority: number | null;
  readonly seq: string | null;
  /** Milliseconds since 1970: of a thousand, dates take 1 ms to read. */
  readonly ready_at: number | null;
  /** `xmin:xmax:xip,…`, in the first row; `null` in the others. */
  readonly snapshot: string | null;
  /** The number of this transaction, in the first row; `null` in the others, and where no number is needed. */
  readonly mark: string | null;
  /** The last place given out in any queue. */
  readonly last: string;
}

/** One row at least for each queue. */
const ofQueues = (heads: string, mark: string): string => `
  select queue.id, head.priority, head.seq, (extract(epoch from head.ready_at) * 1000)::float8 as ready_at,
    case when row_number() over () = 1 then pg_current_snapshot()::text end as snapshot, job_seq.last_value as last,
    case when row_number() over () = 1 then ${mark} end as mark
  from longshore.job_seq cross join longshore.queue left join ${heads} as head on head.id = queue.id
  where ($1::integer is null or queue.id = $1) and ${isShown}`;

/**
 * $1 queue; null: all. Within a priority the oldest stands first, so one job of each priority that the queue holds is read, and
 * what stands between is leapt over (a loose index scan). Goes through all queues priority by priority: in a store
 * with more heads than it reads it leaves out the least urgent ones. Passes the dead entries of finished jobs.
 */
export const selectHeads = prepared(
  'longshore-select-heads',
  `
  with recursive head as (
    select queue.id, first.*
    from longshore.queue cross join lateral (
      select priority, seq, ready_at from longshore.job where queue_id = queue.id and server_id is null
      order by priority, seq limit 1
    ) as first
    where ($1::integer is null or queue.id = $1) and ${isShown}
    union all
    select head.id, first.*
    from head cross join lateral (
      select priority, seq, ready_at from longshore.job
      where queue_id = head.id and priority > head.priority and server_id is null
      order by priority, seq limit 1
    ) as first
  )
  ${ofQueues(`(select * from head limit ${mostHeads})`, 'null::text')}`,
);

/**
 * $1 queue; null: all. Parallel arrays of the places to begin at, those included: $2 queues, $3 priorities, $4 places; $5 queues, $6 the
 * places to begin after in their other priorities, 0 by default.
 */
export const selectHeadsFrom = prepared(
  'longshore-select-heads-from',
  ofQueues(
    `lateral (
    select known.id, first.*
    from (select queue.id, 0::smallint as priority union select queue.id, unnest(queue.priorities)) as known
    left join unnest($2::integer[], $3::smallint[], $4::bigint[]) as begun (id, priority, seq) using (id, priority)
    left join unnest($5::integer[], $6::bigint[]) as rest (id, seq) on rest.id = known.id
    cross join lateral (
      select priority, seq, ready_at from longshore.job
      where queue_id = known.id and priority = known.priority and seq >= coalesce(begun.seq, rest.seq + 1, 0)
        and server_id is null
      order by seq limit 1
    ) as first
  )`,
    'pg_current_xact_id()::text',
  ),
);

/** Reads from the head are paced if they take longer than this: more than a healthy database needs for thousands of queues. */
const quickMs = 100;

/** Where the ready jobs of a queue begin. */
interface QueuePlaces {
  /** The first ready job of each priority that has one. */
  readonly heads: ReadonlyMap<number, string>;
  /** There is none up to this place in the other priorities. */
  readonly rest: bigint;
}

/**
 * When the oldest ready job of each queue became ready. Reads from the head of the queues while that is quick. When an open
 * transaction keeps the dead entries of finished jobs in the way, it mostly begins at the places where it found jobs last; a job
 * that has come back to an earlier place shows after the next read from the head.
 */
export class QueueHeads {
  readonly #database: Database;
  readonly #newPace: () => PacedScan;
  /** Of all queues, `null`, or of one. */
  readonly #paces = new Map<number | null, PacedScan>();
  readonly #places = new Map<number, QueuePlaces>();
  readonly #horizon = new CommitHorizon();

  /** @param newPace paces the reads from the head: those of all queues, and those of each */
  constructor(database: Database, newPace = () => new PacedScan(quickMs)) {
    this.#database = database;
    this.#newPace = newPace;
  }

  /** By queue; of the one, or of all. A queue without a ready job is left out. */
  async oldestReady(queueId: number | null): Promise<ReadonlyMap<number, Date>> {
    const pace = this.#paces.get(queueId) ?? this.#newPace();
    this.#paces.set(queueId, pace);
    const { place } = this.#horizon; // as it was before the statement took its snapshot
    const rows = await (pace.isDue
      ? pace.run(() => this.#database.query<HeadRow>(selectHeads, [queueId]))
      : this.#database.query<HeadRow>(selectHeadsFrom, [queueId, ...this.#begin(queueId)]));
    const [first] = rows;
    if (first === undefined) return new Map();
    const mark = first.mark === null ? null : BigInt(first.mark);
    this.#horizon.observe(first.snapshot ?? '', BigInt(first.last), mark, performance.now());
    const found = new Map<number, Map<number, string>>();
    const oldest = new Map<number, Date>();
    for (const { id, priority, seq, ready_at: readyAt } of rows) {
      const heads = found.get(id) ?? new Map<number, string>();
      found.set(id, heads);
      if (priority === null || seq === null || readyAt === null) continue;
      heads.set(priority, seq);
      if (readyAt < (oldest.get(id)?.getTime() ?? Infinity)) oldest.set(id, new Date(readyAt));
    }
    // Of more than these some are left out, and where they begin is not known.
    if (rows.length < mostHeads)
      for (const [id, heads] of found) this.#places.set(id, { heads, rest: place });
    return oldest;
  }

  /** The arrays that say where to begin. */
  #begin(queueId: number | null): string[] {
    const places = [...this.#places].filter(([id]) => queueId === null || id === queueId);
    const heads = places.flatMap(([id, { heads: ofQueue }]) =>
      [...ofQueue].map((head) => [id, ...head] as const),
    );
    return [
      heads.map(([id]) => id),
      heads.map(([, priority]) => priority),
      heads.map(([, , seq]) => seq),
      places.map(([id]) => id),
      places.map(([, { rest }]) => rest.toString()),
    ].map((column) => arrayOf(column));
  }
}
