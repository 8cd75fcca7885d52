import type pg from 'pg';
import type { Database } from './database.js';
import { type MoveRow, takeMoves } from './sql/outbox.js';

/** What follows for other jobs from the moves of some. Runs in the transaction that takes the moves out of the outbox. */
export interface Consequence {
  /** Resolves to what is to be announced after the commit: queues where a job became ready; `null` calls for a look at the rest. */
  draw(client: pg.ClientBase, moves: readonly MoveRow[]): Promise<Iterable<string | null>>;
}

/** Draws the consequences of jobs' moves for the jobs that depend on them. */
export class PostgresOutbox {
  readonly #database: Database;
  readonly #consequences: readonly Consequence[];
  readonly #announce: (queue: string | null) => void;

  constructor(
    database: Database,
    consequences: readonly Consequence[],
    announce: (queue: string | null) => void,
  ) {
    this.#database = database;
    this.#consequences = consequences;
    this.#announce = announce;
  }

  async settle(limit: number): Promise<number> {
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
