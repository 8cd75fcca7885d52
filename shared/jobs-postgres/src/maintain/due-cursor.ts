/** A Postgres timestamp as text, with microseconds; `-infinity` is the earliest. */
export type Timestamp = string;

/** The result of one poll for due jobs. */
export interface DuePoll {
  /** The snapshot of the poll as `xmin:xmax:xip,…` (see "Snapshot information functions" in the Postgres manual). */
  readonly snapshot: string;
  /** When the poll started. Its snapshot was taken at the same time or later. */
  readonly at: Timestamp;
  /** The id of the poll's own transaction; `null` if none was assigned. */
  readonly mark: string | null;
  /** When the first due job of each queue was due, by queue id. Queues without a due job are missing. */
  readonly due: ReadonlyMap<number, Timestamp>;
}

/**
 * The id of a poll's own transaction and the time at which the poll started. Transactions that begin after that poll
 * have higher ids.
 */
interface Mark {
  readonly id: bigint;
  readonly at: Timestamp;
}

/**
 * Determines where the next poll for due jobs starts, so that the cost of a poll does not grow with the dead index
 * entries of promoted jobs.
 *
 * A job is never scheduled for a time before its transaction began, and the job becomes visible when that transaction
 * ends. So a poll can start at a time T if all transactions that began before T are known to have ended. When an older
 * transaction ends later, one poll has to start further back. A snapshot does not list a transaction in progress if its
 * id is higher than the id of every finished transaction. Some polls are therefore assigned a transaction id, called a
 * mark.
 */
export class DueCursor {
  /**
   * Where the next poll starts, apart from the exceptions in `earlier` and `inProgress`. All jobs that were due before
   * this time have been seen.
   */
  readonly defaultStart: Timestamp;
  /** Earlier start times for the queues in which the last poll found due jobs. */
  readonly earlier: ReadonlyMap<number, Timestamp>;
  /**
   * Transactions in progress, each with a time. Once such a transaction has ended, jobs that were due at that time or
   * later may have become visible.
   */
  readonly inProgress: ReadonlyMap<string, Timestamp>;
  readonly #mark: Mark | null;
  /**
   * Whether the next poll should be assigned a mark, because there is none yet or transactions have ended since the
   * last mark.
   */
  readonly isMarkDue: boolean;

  /** The cursor for a poll from the head of the index. Such a poll sees all jobs. */
  static readonly start = new DueCursor('-infinity', new Map(), new Map(), null, true);

  private constructor(
    defaultStart: Timestamp,
    earlier: ReadonlyMap<number, Timestamp>,
    inProgress: ReadonlyMap<string, Timestamp>,
    mark: Mark | null,
    isMarkDue: boolean,
  ) {
    this.defaultStart = defaultStart;
    this.earlier = earlier;
    this.inProgress = inProgress;
    this.#mark = mark;
    this.isMarkDue = isMarkDue;
  }

  /** Returns the cursor after a poll that started at this cursor or at {@link start}. */
  after({ snapshot, at, mark, due }: DuePoll): DueCursor {
    const [, xmax = '0', inProgress = ''] = snapshot.split(':');
    const before = this.#mark;
    // If this is true, the snapshot lists every unfinished transaction that began before the mark.
    const isReached = before !== null && BigInt(xmax) > before.id;
    const since = (id: string): Timestamp =>
      this.inProgress.get(id) ?? (isReached && BigInt(id) > before.id ? before.at : this.defaultStart);
    const next = mark === null ? before : { id: BigInt(mark), at };
    return new DueCursor(
      isReached ? before.at : this.defaultStart,
      due,
      new Map((inProgress === '' ? [] : inProgress.split(',')).map((id) => [id, since(id)])),
      next,
      mark === null && (next === null || BigInt(xmax) > next.id + 1n),
    );
  }
}
