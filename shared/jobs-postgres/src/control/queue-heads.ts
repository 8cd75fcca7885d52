import { CommitHorizon } from '../claim/commit-horizon.js';
import type { Database } from '../connection/database.js';
import { PacedScan } from '../claim/paced-scan.js';
import { prepared } from '../connection/statement.js';
import { isShown } from '../queues/pause.sql.js';

/**
 * Maximum number of heads to read. A queue has one head per priority: the first ready job. Reading this many takes up
 * to 70 ms.
 */
export const maxHeads = 20_000;

/** The first ready job of a queue at one priority. */
export interface HeadRow {
  readonly id: number;
  /** `null`, like the next two members, if no ready job was found in the queue. */
  readonly priority: number | null;
  readonly seq: string | null;
  /** Milliseconds since 1970, as a number because parsing a thousand dates takes 1 ms. */
  readonly ready_at: number | null;
  /** The snapshot of the statement, as `xmin:xmax:xip,…`, in the first row; `null` in the others. */
  readonly snapshot: string | null;
  /**
   * The id of the transaction, in the first row of {@link selectHeadsFrom}; `null` in its other rows and in all rows of
   * {@link selectHeads}.
   */
  readonly mark: string | null;
  /** The last sequence number (`seq`) assigned in any queue. */
  readonly last: string;
}

/** SQL condition for the queues to read: $1 is the id of one queue, or null for all. */
const isRead = `($1::integer is null or queue.id = $1) and ${isShown}`;

/**
 * Returns the select list for a {@link HeadRow}, from `head` and `job_seq`.
 *
 * @param mark SQL expression for {@link HeadRow.mark}
 */
const headColumns = (mark: string): string => `
  head.id, head.priority, head.seq, (extract(epoch from head.ready_at) * 1000)::float8 as ready_at,
    case when row_number() over () = 1 then pg_current_snapshot()::text end as snapshot, job_seq.last_value as last,
    case when row_number() over () = 1 then ${mark} end as mark`;

const headColumnsOnNodes = `queue.id, first.priority, first.seq, (extract(epoch from first.ready_at) * 1000)::float8 as ready_at,
      case when row_number() over () = 1 then pg_current_snapshot()::text end as snapshot, 0::bigint as last, null::text as mark`;

/**
 * Returns the text, for Citus, of a statement that reads the first ready job of each priority, always from the head of the
 * queue. Each node reads the ready jobs of the queues that it stores.
 *
 * @param ctes CTEs that precede the others, each followed by a comma
 */
const headsOnNodes = (ctes = ''): string => `
    with ${ctes}first as materialized (
      select distinct on (job.queue_id, job.priority) job.queue_id, job.priority, job.seq, job.ready_at
      from longshore.job
      where job.queue_id in (select queue_id from longshore.queue_node) and ($1::integer is null or job.queue_id = $1) and server_id is null
      order by job.queue_id, job.priority, job.seq
    ),
    queue as materialized (
      select id from longshore.queue where ($1::integer is null or id = $1)
    )
    select ${headColumnsOnNodes} from queue left join first on first.queue_id = queue.id`;

/**
 * $1 queue, or null for all. Returns each queue's first ready job per priority, or one row without a job. Reads one job
 * per priority and skips the rest (a loose index scan), but also has to skip the dead index entries of finished jobs.
 * Reads the most urgent priority of every queue first. If there are more than `maxHeads` heads, the least urgent ones
 * are missing.
 *
 * Uses `not in`, because hash joins are off: for an outer join, Postgres would compare every queue with every head.
 */
export const selectHeads = prepared(
  'longshore-select-heads',
  `
  with recursive found as (
    select queue.id, first.*
    from longshore.queue cross join lateral (
      select priority, seq, ready_at from longshore.job where queue_id = queue.id and server_id is null
      order by priority, seq limit 1
    ) as first
    where ${isRead}
    union all
    select found.id, first.*
    from found cross join lateral (
      select priority, seq, ready_at from longshore.job
      where queue_id = found.id and priority > found.priority and server_id is null
      order by priority, seq limit 1
    ) as first
  ),
  nearest as (select * from found limit ${maxHeads})
  select ${headColumns('null::text')}
  from longshore.job_seq cross join (
    select id, priority, seq, ready_at from nearest
    union all
    select queue.id, null, null, null from longshore.queue where ${isRead} and queue.id not in (select id from nearest)
  ) as head`,
  headsOnNodes(),
);

/**
 * Returns each queue's first ready job per priority, or one row without a job. $1 queue, or null for all; $2 where to
 * start reading: a JSON object such as `{"7":{"0":"120","rest":"118"}}`, with sequence numbers by priority for each
 * queue id. A listed priority is read from its sequence number on. For the queue's other priorities, reading starts
 * after the sequence number in `rest`. A queue that is not listed is read from the beginning. On Citus, every queue is.
 */
export const selectHeadsFrom = prepared(
  'longshore-select-heads-from',
  `
  select ${headColumns('pg_current_xact_id()::text')}
  from longshore.job_seq cross join (
    select queue.id, first.*
    from longshore.queue left join lateral (
      select first.*
      from (select 0::smallint as priority union select unnest(queue.priorities)) as known
      cross join lateral (select $2::jsonb -> queue.id::text as places) as begun
      cross join lateral (
        select priority, seq, ready_at from longshore.job
        where queue_id = queue.id and priority = known.priority and server_id is null
          and seq >= coalesce((places ->> known.priority::text)::bigint, (places ->> 'rest')::bigint + 1, 0)
        order by seq limit 1
      ) as first
    ) as first on true
    where ${isRead}
  ) as head`,
  headsOnNodes('given as (select $2::jsonb), '),
);

/** A read from the head that takes up to this many milliseconds needs no pause before the next one. */
const quickMs = 100;

/** Where the ready jobs of a queue begin. */
interface QueuePlaces {
  /** The sequence number of the first ready job, by priority. Priorities without ready jobs are missing. */
  readonly heads: ReadonlyMap<number, string>;
  /** Up to this sequence number, the other priorities have no ready jobs. */
  readonly rest: bigint;
}

/**
 * Determines when the oldest ready job of each queue became ready. Reads from the head of the queues while that is
 * fast. Such reads become slow if an open transaction keeps the dead index entries of finished jobs from being
 * vacuumed. Most reads then start where ready jobs were last found. These reads miss jobs that have returned to an
 * earlier position.
 */
export class QueueHeads {
  readonly #database: Database;
  readonly #newPace: () => PacedScan;
  /** Limits the reads from the head, by queue id; the key `null` stands for reads of all queues. */
  readonly #paces = new Map<number | null, PacedScan>();
  readonly #places = new Map<number, QueuePlaces>();
  readonly #horizon = new CommitHorizon();

  /**
   * @param newPace creates a limit on reads from the head; called once for each queue, and once for reads of all queues
   */
  constructor(database: Database, newPace = () => new PacedScan(quickMs)) {
    this.#database = database;
    this.#newPace = newPace;
  }

  /**
   * Returns when the oldest ready job of each queue became ready, by queue id. Queues without a ready job are missing.
   *
   * @param queueId the only queue to read; `null` for all
   */
  async oldestReady(queueId: number | null): Promise<ReadonlyMap<number, Date>> {
    const pace = this.#paces.get(queueId) ?? this.#newPace();
    this.#paces.set(queueId, pace);
    const { place } = this.#horizon; // read first, so that the query's snapshot shows all jobs up to this number
    const rows = await (pace.isDue
      ? pace.run(() => this.#database.query<HeadRow>(selectHeads, [queueId]))
      : this.#database.query<HeadRow>(selectHeadsFrom, [queueId, this.#begin(queueId)]));
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
    // If the limit is reached, heads may be missing. Stores nothing then, because it is unknown where the ready jobs of
    // some queues begin.
    if (rows.length < maxHeads) for (const [id, heads] of found) this.#places.set(id, { heads, rest: place });
    return oldest;
  }

  /** Returns where to start reading: parameter $2 of {@link selectHeadsFrom}. */
  #begin(queueId: number | null): string {
    const places = [...this.#places].filter(([id]) => queueId === null || id === queueId);
    return JSON.stringify(
      Object.fromEntries(
        places.map(([id, { heads, rest }]) => [id, { ...Object.fromEntries(heads), rest: rest.toString() }]),
      ),
    );
  }
}
