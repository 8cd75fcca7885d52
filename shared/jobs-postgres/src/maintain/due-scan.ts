import { arrayOf } from '../connection/array-literal.js';
import type { Database } from '../connection/database.js';
import { PacedScan } from '../claim/paced-scan.js';
import { DueCursor, type Timestamp } from './due-cursor.js';
import { type DueRow, nextDue } from './promotion.sql.js';

/**
 * If a poll from the head takes longer than this, in milliseconds, a pause follows. Without dead index entries, even
 * polling a thousand queues takes less time.
 */
const quickMs = 20;

/** A queue with scheduled jobs. */
export interface WaitingQueue {
  readonly id: number;
  /** When the queue's first job became due; `null` if it is not due yet. */
  readonly dueAt: Timestamp | null;
  /** Milliseconds until the queue's first job is due; negative if it is overdue. */
  readonly dueInMs: number;
}

/** What waits for a time. */
export interface DueWork {
  /** The queues that have scheduled jobs, ordered by the time at which their first job is due. */
  readonly queues: readonly WaitingQueue[];
  /** Milliseconds until a concurrency key has a token for a blocked job; negative if it has, `null` if none waits. */
  readonly keysDueInMs: number | null;
}

/**
 * Polls for due jobs. Starts at the head of the index while this is fast. Polls from the head become slow if an open
 * transaction keeps dead entries of promoted jobs from being vacuumed. Most polls then start at a {@link DueCursor},
 * and polls from the head become rare.
 */
export class DueScan {
  readonly #database: Database;
  readonly #whole: PacedScan;
  #cursor = DueCursor.start;

  /** @param whole limits how often to poll from the head */
  constructor(database: Database, whole = new PacedScan(quickMs)) {
    this.#database = database;
    this.#whole = whole;
  }

  poll(): Promise<DueWork> {
    // A mark needs a transaction id, which is a write. Polls from the head make no mark, so the servers of an idle
    // database write nothing while these polls are fast.
    if (!this.#whole.isDue) return this.#pollFrom(this.#cursor, this.#cursor.isMarkDue);
    return this.#whole.run(() => this.#pollFrom(DueCursor.start, false));
  }

  async #pollFrom({ defaultStart, earlier, inProgress }: DueCursor, makesMark: boolean): Promise<DueWork> {
    const cursor = this.#cursor;
    const rows = await this.#database.query<DueRow>(nextDue, [
      defaultStart,
      arrayOf([...earlier.keys()]),
      [...earlier.values()],
      arrayOf([...inProgress.keys()]),
      [...inProgress.values()],
      makesMark,
    ]);
    const [first] = rows;
    if (first === undefined) throw new Error('Postgres did not return the time');
    const queues: WaitingQueue[] = [];
    const due = new Map<number, Timestamp>();
    for (const { id, due_at: dueAt, due_in: dueInMs } of rows) {
      if (id === null || dueInMs === null) continue;
      queues.push({ id, dueAt, dueInMs });
      if (dueAt !== null) due.set(id, dueAt);
    }
    this.#cursor = cursor.after({ ...first, due });
    return { queues, keysDueInMs: first.keys_due_in };
  }
}
