import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { type Database, isOfData } from './database.js';
import { apart, type Isolate, together } from './isolation.js';
import type { PostgresLinkMarker } from './postgres-link-marker.js';
import type { Aside, PostgresSetAside } from './postgres-set-aside.js';
import { lookForWork, type MoveRow, takeMoves } from './sql/outbox.js';
import { deleteAside, takeAside } from './sql/set-aside.js';

/** A parent that is being claimed or finished is free again after a few milliseconds. */
const heldMs = 10;
const maxLooks = 3;

/** Items that were set aside and are tried again in one transaction. */
const maxAgain = 20;

/** How consequences are drawn: plainly, or so that what cannot be dealt with is set aside. */
export interface Drawing {
  readonly isolate: Isolate;
  readonly setAside: (aside: Omit<Aside, 'role'>, error: unknown) => Promise<void>;
}

/** What follows for other jobs from the moves of some. Runs in the transaction that takes the moves out of the outbox. */
export interface Consequence {
  /** Resolves to what is to be announced after the commit: queues where a job became ready; `null` calls for a look at the rest. */
  draw(client: pg.ClientBase, moves: readonly MoveRow[], drawing: Drawing): Promise<Iterable<string | null>>;
}

/** Draws the consequences of jobs' moves for the jobs that depend on them. */
export class PostgresOutbox {
  readonly #database: Database;
  readonly #marker: PostgresLinkMarker;
  readonly #consequences: readonly Consequence[];
  readonly #setAside: PostgresSetAside;
  readonly #announce: (queue: string | null) => void;

  constructor(
    database: Database,
    marker: PostgresLinkMarker,
    consequences: readonly Consequence[],
    setAside: PostgresSetAside,
    announce: (queue: string | null) => void,
  ) {
    this.#database = database;
    this.#marker = marker;
    this.#consequences = consequences;
    this.#setAside = setAside;
    this.#announce = announce;
  }

  async relay(limit: number): Promise<number> {
    const [work] = await this.#database.query<{ moves: boolean; links: boolean; aside: boolean }>(
      lookForWork,
    );
    if (work === undefined) return 0;
    if (work.aside) await this.#drawAside();
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

  /** All in one go, as ever; only if that fails for a reason of its data, one is separated from the other. */
  async #drawMoves(limit: number): Promise<number> {
    try {
      return await this.#announcing((client, announced) =>
        this.#drawFrom(client, limit, together, announced),
      );
    } catch (error) {
      if (!isOfData(error)) throw error;
      return this.#announcing((client, announced) => this.#drawFrom(client, limit, apart(client), announced));
    }
  }

  async #drawFrom(
    client: pg.ClientBase,
    limit: number,
    isolate: Isolate,
    announced: Set<string | null>,
  ): Promise<number> {
    const { rows } = await client.query<MoveRow>({ ...takeMoves, values: [limit] });
    await isolate(
      rows,
      (moves) => this.#draw(client, moves, isolate, announced),
      (move, error) => this.#put(client, { ...about(move), key: `move ${move.id}`, item: [move] }, error),
    );
    return rows.length;
  }

  /** Tries again what was set aside: each by itself, and what fails stays there. */
  async #drawAside(): Promise<number> {
    return this.#announcing(async (client, announced) => {
      const { rows } = await client.query<AsideRow>({ ...takeAside, values: ['resolver', maxAgain] });
      const isolate = apart(client);
      for (const row of rows) {
        await isolate(
          [row],
          async () => {
            await this.#draw(client, row.item ?? [], together, announced);
            await client.query({ ...deleteAside, values: [row.id] });
          },
          (_, error) => this.#put(client, { key: row.key, item: row.item ?? [] }, error),
        );
      }
      return rows.length;
    });
  }

  async #draw(
    client: pg.ClientBase,
    moves: readonly MoveRow[],
    isolate: Isolate,
    announced: Set<string | null>,
  ): Promise<void> {
    const drawing: Drawing = { isolate, setAside: (aside, error) => this.#put(client, aside, error) };
    for (const consequence of this.#consequences) {
      for (const queue of await consequence.draw(client, moves, drawing)) announced.add(queue);
    }
  }

  #put(client: pg.ClientBase, aside: Omit<Aside, 'role'>, error: unknown): Promise<void> {
    return this.#setAside.put(client, { ...aside, role: 'resolver' }, error);
  }

  async #announcing(
    work: (client: pg.ClientBase, announced: Set<string | null>) => Promise<number>,
  ): Promise<number> {
    const announced = new Set<string | null>();
    const settled = await this.#database.transaction((client) => {
      announced.clear();
      return work(client, announced);
    });
    for (const queue of announced) this.#announce(queue);
    return settled;
  }
}

interface AsideRow {
  id: string;
  key: string;
  item: MoveRow[] | null;
}

/** The end of a batch is noted without a queue. */
function about({ queue_id: queueId, job_id: jobId }: MoveRow): Pick<Aside, 'queueId' | 'jobId'> {
  return queueId > 0 ? { queueId, jobId } : {};
}
