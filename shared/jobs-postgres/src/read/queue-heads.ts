import { arrayOf } from '../connection/array-literal.js';
import { CommitHorizon } from '../claim/commit-horizon.js';
import type { Database } from '../connection/database.js';
import { PacedScan } from '../claim/paced-scan.js';
import { prepared } from '../connection/statement.js';
import { isShown } from './shown-queues.sql.js';

/** Maximum number of heads, one per queue and priority, that are read: 70 ms at most. */
export const mostHeads = 20_000;

/** The first ready job of a queue and a priority. */
export interface HeadRow {
  readonly id: number;
  /** Null, like the next two members, if the queue has no ready jobs. */
  readonly priority: number | null;
  readonly seq: string | null;
  /** Milliseconds since 1970: parsing a thousand dates takes 1 ms. */
  readonly ready_at: number | null;
  /** `xmin:xmax:xip,…`, in the first row; `null` in the others. */
  readonly snapshot: string | null;
  /** The id of this transaction, in the first row; `null` in the others, and if no id is needed. */
  readonly mark: string | null;
  /** The last place assigned in any queue. */
  readonly last: string;
}

/** Returns at least one row per queue. */
const ofQueues = (heads: string, mark: string): string => `
  select queue.id, head.priority, head.seq, (extract(epoch from head.ready_at) * 1000)::float8 as ready_at,
    case when row_number() over () = 1 then pg_current_snapshot()::text end as snapshot, job_seq.last_value as last,
    case when row_number() over () = 1 then ${mark} end as mark
  from longshore.job_seq cross join longshore.queue left join ${heads} as head on head.id = queue.id
  where ($1::integer is null or queue.id = $1) and ${isShown}`;

/**
 * $1 queue, or null for all. Within a priority the oldest job is first, so this reads one job per priority and skips the rest
 * (a loose index scan). Goes through all queues priority by priority, so in a store with more heads than it reads, the least
 * urgent ones are missing. Has to skip the dead index entries of finished jobs.
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
 * $1 queue, or null for all. Parallel arrays of inclusive start places: $2 queues, $3 priorities, $4 places; $5 queues, $6
 * the exclusive start places of their other priorities, 0 by default.
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

/** Reads from the head that take no longer, in milliseconds, are not followed by a pause. Thousands of queues take less. */
const quickMs = 100;

/** Where the ready jobs of a queue begin. */
interface QueuePlaces {
  /** The place of the first ready job of each priority that has one. */
  readonly heads: ReadonlyMap<number, string>;
  /** The place up to which the other priorities have no ready job. */
  readonly rest: bigint;
}

/**
 * Finds when the oldest ready job of each queue became ready. Reads from the head of the queues while that is fast. When an
 * open transaction leaves the dead entries of finished jobs in the way, it usually starts at the places where it last found
 * jobs; a job that has returned to an earlier place appears after the next read from the head.
 */
export class QueueHeads {
  readonly #database: Database;
  readonly #newPace: () => PacedScan;
  /** By queue; `null` for all queues. */
  readonly #paces = new Map<number | null, PacedScan>();
  readonly #places = new Map<number, QueuePlaces>();
  readonly #horizon = new CommitHorizon();

  /** @param newPace paces the reads from the head: those of all queues, and those of each */
  constructor(database: Database, newPace = () => new PacedScan(quickMs)) {
    this.#database = database;
    this.#newPace = newPace;
  }

  /** Returns the times by queue, for one queue or all. Queues without a ready job are missing. */
  async oldestReady(queueId: number | null): Promise<ReadonlyMap<number, Date>> {
    const pace = this.#paces.get(queueId) ?? this.#newPace();
    this.#paces.set(queueId, pace);
    const { place } = this.#horizon; // read before the statement takes its snapshot
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
    // Otherwise some heads may be missing, and it is unknown where the ready jobs of their queues begin.
    if (rows.length < mostHeads)
      for (const [id, heads] of found) this.#places.set(id, { heads, rest: place });
    return oldest;
  }

  /** Returns the start places as array literals. */
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
