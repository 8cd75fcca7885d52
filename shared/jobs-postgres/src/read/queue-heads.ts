import { arrayOf } from '../connection/array-literal.js';
import { CommitHorizon } from '../claim/commit-horizon.js';
import type { Database } from '../connection/database.js';
import { PacedScan } from '../claim/paced-scan.js';
import { type HeadRow, mostHeads, selectHeads, selectHeadsFrom } from './queue-heads.sql.js';

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
