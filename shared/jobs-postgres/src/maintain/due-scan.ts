import { arrayOf } from '../connection/array-literal.js';
import type { Database } from '../connection/database.js';
import { PacedScan } from '../claim/paced-scan.js';
import { DueCursor, type Timestamp } from './due-cursor.js';
import { type DueRow, nextDue } from './promotion.sql.js';

/** A look at all jobs that wait is made each time while it takes no longer than this: a few times what it takes for a thousand queues. */
const quickMs = 20;

/** A queue with jobs that wait for a time. */
export interface WaitingQueue {
  readonly id: number;
  /** When its first job was due; `null` if none is due. */
  readonly dueAt: Timestamp | null;
  /** Negative if it is overdue. */
  readonly dueInMs: number;
}

/**
 * Looks for jobs that are due. Looks from the head while that is quick. When an open transaction keeps the dead entries of promoted jobs
 * in the way, mostly from where the last look ended (see {@link DueCursor}), and from the head at a few percent of one
 * processor.
 */
export class DueScan {
  readonly #database: Database;
  readonly #whole: PacedScan;
  #cursor = DueCursor.start;

  /** @param whole paces the looks from the head */
  constructor(database: Database, whole = new PacedScan(quickMs)) {
    this.#database = database;
    this.#whole = whole;
  }

  /** In the order in which their first jobs are due. */
  look(): Promise<WaitingQueue[]> {
    // While looks from the head are quick nobody needs marks, and servers of an idle database write nothing.
    if (!this.#whole.isDue) return this.#lookFrom(this.#cursor, this.#cursor.isMarkDue);
    return this.#whole.run(() => this.#lookFrom(DueCursor.start, false));
  }

  async #lookFrom({ everywhere, earlier, underWay }: DueCursor, makesMark: boolean): Promise<WaitingQueue[]> {
    const cursor = this.#cursor;
    const rows = await this.#database.query<DueRow>(nextDue, [
      everywhere,
      arrayOf([...earlier.keys()]),
      [...earlier.values()],
      arrayOf([...underWay.keys()]),
      [...underWay.values()],
      makesMark,
    ]);
    const [first] = rows;
    if (first === undefined) throw new Error('Postgres did not tell the time');
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
