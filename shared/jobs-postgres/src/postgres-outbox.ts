import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { Database } from './database.js';
import type { PostgresLinkMarker } from './postgres-link-marker.js';
import { lookForWork, type MoveRow, takeMoves } from './sql/outbox.js';

/** A parent that is being claimed or finished is free again after a few milliseconds. */
const heldMs = 10;
const maxLooks = 3;

/** What follows for other jobs from the moves of some. Runs in the transaction that takes the moves out of the outbox. */
export interface Consequence {
  /** Resolves to what is to be announced after the commit: queues where a job became ready; `null` calls for a look at the rest. */
  draw(client: pg.ClientBase, moves: readonly MoveRow[]): Promise<Iterable<string | null>>;
}

/** Draws the consequences of jobs' moves for the jobs that depend on them. */
export class PostgresOutbox {
  readonly #database: Database;
  readonly #marker: PostgresLinkMarker;
  readonly #consequences: readonly Consequence[];
  readonly #announce: (queue: string | null) => void;

  constructor(
    database: Database,
    marker: PostgresLinkMarker,
    consequences: readonly Consequence[],
    announce: (queue: string | null) => void,
  ) {
    this.#database = database;
    this.#marker = marker;
    this.#consequences = consequences;
    this.#announce = announce;
  }

  async settle(limit: number): Promise<number> {
    const [work] = await this.#database.query<{ moves: boolean; links: boolean }>(lookForWork);
    if (work === undefined) return 0;
    const marked = work.links ? await this.#markLinks() : 0;
    return marked + (work.moves || marked > 0 ? await this.#drawMoves(limit) : 0);
  }

  async #markLinks(): Promise<number> {
    let marked = 0;
    for (let look = 1; ; look++) {
      const report = await this.#marker.mark();
      marked += report.marked;
      if (report.held === 0 || look === maxLooks) return marked;
      await delay(heldMs);
    }
  }

  async #drawMoves(limit: number): Promise<number> {
    const announced = new Set<string | null>();
    const settled = await this.#database.transaction(async (client) => {
      announced.clear();
      const { rows } = await client.query<MoveRow>({ ...takeMoves, values: [limit] });
      if (rows.length === 0) return 0;
      for (const consequence of this.#consequences) {
        for (const queue of await consequence.draw(client, rows)) announced.add(queue);
      }
      return rows.length;
    });
    for (const queue of announced) this.#announce(queue);
    return settled;
  }
}
