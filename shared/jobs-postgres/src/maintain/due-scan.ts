import { arrayOf } from '../connection/array-literal.js';
import type { Database } from '../connection/database.js';
import { PacedScan } from '../claim/paced-scan.js';
import { DueCursor, type Timestamp } from './due-cursor.js';
import { type DueRow, nextDue } from './promotion.sql.js';

/**
 * Polls from the head that take at most this many milliseconds are not followed by a pause. Even with a thousand
 * queues, a poll takes less.
 */
const quickMs = 20;

/** A queue with scheduled jobs. */
export interface WaitingQueue {
  readonly id: number;
  /** When the queue's first job was due; `null` if none is due. */
  readonly dueAt: Timestamp | null;
  /** Milliseconds until the queue's first job is due; negative if it is overdue. */
  readonly dueInMs: number;
}

/**
 * Polls for due jobs, from the head of the index while that is fast. While an open transaction keeps the dead entries
 * of promoted jobs from being vacuumed, most polls start where the last one ended (see {@link DueCursor}), and polls
 * from the head are so rare that they take about two percent of one processor.
 */
export class DueScan {
  readonly #database: Database;
  readonly #whole: PacedScan;
  #cursor = DueCursor.start;

  /** @param whole decides when to poll from the head */
  constructor(database: Database, whole = new PacedScan(quickMs)) {
    this.#database = database;
    this.#whole = whole;
  }

  /** Returns queues in the order in which their first jobs are due. */
  poll(): Promise<WaitingQueue[]> {
    // Polls from the head need no marks while they are fast, so servers of an idle database write nothing.
    if (!this.#whole.isDue) return this.#pollFrom(this.#cursor, this.#cursor.isMarkDue);
    return this.#whole.run(() => this.#pollFrom(DueCursor.start, false));
  }

  async #pollFrom(
    { defaultStart, earlier, inProgress }: DueCursor,
    makesMark: boolean,
  ): Promise<WaitingQueue[]> {
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
      if (id === null) continue;
      queues.push({ id, dueAt, dueInMs });
      if (dueAt !== null) due.set(id, dueAt);
    }
    this.#cursor = cursor.after({ ...first, due });
    return queues;
  }
}
