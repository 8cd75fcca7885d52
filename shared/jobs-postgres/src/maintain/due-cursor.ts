/** A time as Postgres writes it, to the microsecond; `-infinity` comes before every other. */
export type Timestamp = string;

/** What one look for due jobs saw of the database. */
export interface DuePoll {
  /** `xmin:xmax:xip,…`, see "Snapshot information functions" in the manual of Postgres. */
  readonly snapshot: string;
  /** The time, no later than the snapshot. */
  readonly at: Timestamp;
  /** The number of the look's own transaction, if it has one. */
  readonly mark: string | null;
  /** When the first job that is due in each queue was due. */
  readonly due: ReadonlyMap<number, Timestamp>;
}

/** A transaction that began later than a look has a higher number than the mark that the look made. */
interface Mark {
  readonly id: bigint;
  readonly at: Timestamp;
}

/**
 * Where the next look for due jobs begins, so that its cost does not grow with the dead index entries of promoted jobs. What a
 * transaction schedules is due after it began, and visible when it has ended: a look begins at the time up to which all transactions
 * that began have been seen to end, and goes back once for each that ends later. A snapshot does not show a transaction under way
 * whose number is above that of every one that has ended, so the looks make marks: numbers of their own.
 * Jobs scheduled for the past are found by looks at all jobs that wait.
 */
export class DueCursor {
  /** From when on jobs may be due that no look has seen. */
  readonly everywhere: Timestamp;
  /** Queues in which the last look saw earlier ones. */
  readonly earlier: ReadonlyMap<number, Timestamp>;
  /** Transactions under way, by their numbers. When one has ended, there may be jobs that were due since this time. */
  readonly underWay: ReadonlyMap<string, Timestamp>;
  readonly #mark: Mark | null;
  /** Whether the next look is to make a mark: transactions have ended since the last one. */
  readonly isMarkDue: boolean;

  /** Where a look begins that sees all jobs. */
  static readonly start = new DueCursor('-infinity', new Map(), new Map(), null, true);

  private constructor(
    everywhere: Timestamp,
    earlier: ReadonlyMap<number, Timestamp>,
    underWay: ReadonlyMap<string, Timestamp>,
    mark: Mark | null,
    isMarkDue: boolean,
  ) {
    this.everywhere = everywhere;
    this.earlier = earlier;
    this.underWay = underWay;
    this.#mark = mark;
    this.isMarkDue = isMarkDue;
  }

  /** Where to go on after a look that began here, or at {@link start}. */
  after({ snapshot, at, mark, due }: DuePoll): DueCursor {
    const [, xmax = '0', underWay = ''] = snapshot.split(':');
    const before = this.#mark;
    // Every transaction that began before the mark is shown by this snapshot if it has not ended.
    const isReached = before !== null && BigInt(xmax) > before.id;
    const since = (id: string): Timestamp =>
      this.underWay.get(id) ?? (isReached && BigInt(id) > before.id ? before.at : this.everywhere);
    const next = mark === null ? before : { id: BigInt(mark), at };
    return new DueCursor(
      isReached ? before.at : this.everywhere,
      due,
      new Map((underWay === '' ? [] : underWay.split(',')).map((id) => [id, since(id)])),
      next,
      mark === null && (next === null || BigInt(xmax) > next.id + 1n),
    );
  }
}
