import { parseSnapshot } from '../claim/commit-horizon.js';

/** A Postgres timestamp as text, with microseconds; `-infinity` is the earliest. */
export type Timestamp = string;

/** The result of one poll for due jobs. */
export interface DuePoll {
  /** The snapshot of the poll, see {@link parseSnapshot}. */
  readonly snapshot: string;
  /** When the poll started. The snapshot was taken at this time or later. */
  readonly at: Timestamp;
  /** The id of the poll's own transaction; `null` if none was assigned. */
  readonly mark: string | null;
  /** When the first due job of each queue became due, by queue id. Queues without a due job are missing. */
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
 * Determines where the next poll for due jobs starts, so that polls do not have to skip the dead index entries of
 * promoted jobs.
 *
 * A job is never due before its transaction began, and becomes visible when this transaction ends. A poll can therefore
 * start at time T if all transactions that began before T have ended. When an older transaction ends, the next
 * poll starts earlier.
 *
 * A snapshot lists only those transactions in progress that are older than the newest finished one. To advance this
 * limit, some polls get a transaction id of their own, called a mark.
 */
export class DueCursor {
  /** Where the next poll starts, apart from the exceptions in `earlier` and `inProgress`. */
  readonly defaultStart: Timestamp;
  /**
   * Start times that replace `defaultStart` in the queues in which the last poll found due jobs: the time at which the
   * first of these jobs became due.
   */
  readonly earlier: ReadonlyMap<number, Timestamp>;
  /**
   * Maps the id of each transaction in progress to a time before the transaction began. The first poll after the
   * transaction has ended starts at this time or earlier.
   */
  readonly inProgress: ReadonlyMap<string, Timestamp>;
  readonly #mark: Mark | null;
  /**
   * Whether the next poll should get a mark, because there is none yet or transactions have ended since the last mark.
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
    const { xmax, inProgress } = parseSnapshot(snapshot);
    const before = this.#mark;
    // If this is true, the snapshot lists every unfinished transaction that began before the mark.
    const isReached = before !== null && xmax > before.id;
    const since = (id: bigint): Timestamp =>
      this.inProgress.get(`${id}`) ?? (isReached && id > before.id ? before.at : this.defaultStart);
    const next = mark === null ? before : { id: BigInt(mark), at };
    return new DueCursor(
      isReached ? before.at : this.defaultStart,
      due,
      new Map(inProgress.map((id) => [`${id}`, since(id)])),
      next,
      mark === null && (next === null || xmax > next.id + 1n),
    );
  }
}
