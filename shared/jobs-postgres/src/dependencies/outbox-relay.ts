import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { type Database, isOfData } from '../connection/database.js';
import { apart, type Isolate, together } from '../connection/isolation.js';
import type { Aside, PostgresSetAside } from '../maintain/set-aside.js';
import { deleteAside, takeAside } from '../maintain/set-aside.sql.js';
import type { DependencyMarker } from './dependency-marker.js';
import { lookForWork, type OutboxRow, takeMoves } from './outbox.sql.js';

/** A parent that is being claimed or finished is free again after a few milliseconds. */
const busyMs = 10;
const maxLooks = 3;

/** Items that were set aside and are tried again in one transaction. */
const maxAgain = 20;

/** How resolvers are drawn: plainly, or so that what cannot be dealt with is set aside. */
export interface ResolveOptions {
  readonly isolate: Isolate;
  readonly setAside: (aside: Omit<Aside, 'role'>, error: unknown) => Promise<void>;
}

/** What follows for other jobs from the moves of some. Runs in the transaction that takes the moves out of the outbox. */
export interface DependencyResolver {
  /** Resolves to what is to be notified after the commit: queues where a job became ready; `null` calls for a look at the rest. */
  resolve(
    client: pg.ClientBase,
    moves: readonly OutboxRow[],
    options: ResolveOptions,
  ): Promise<Iterable<string | null>>;
}

/** Draws the resolvers of jobs' moves for the jobs that depend on them. */
export class OutboxRelay {
  readonly #database: Database;
  readonly #marker: DependencyMarker;
  readonly #resolvers: readonly DependencyResolver[];
  readonly #setAside: PostgresSetAside;
  readonly #notify: (queue: string | null) => void;

  constructor(
    database: Database,
    marker: DependencyMarker,
    resolvers: readonly DependencyResolver[],
    setAside: PostgresSetAside,
    notify: (queue: string | null) => void,
  ) {
    this.#database = database;
    this.#marker = marker;
    this.#resolvers = resolvers;
    this.#setAside = setAside;
    this.#notify = notify;
  }

  async relay(limit: number): Promise<number> {
    const [work] = await this.#database.query<{ moves: boolean; links: boolean; aside: boolean }>(
      lookForWork,
    );
    if (work === undefined) return 0;
    if (work.aside) await this.#drawAside();
    const marked = work.links ? await this.#markDependencies() : 0;
    return marked + (work.moves || marked > 0 ? await this.#drawMoves(limit) : 0);
  }

  async #markDependencies(): Promise<number> {
    let marked = 0;
    for (let look = 1; ; look++) {
      const report = await this.#marker.mark();
      marked += report.marked;
      if (report.busy === 0 || look === maxLooks) return marked;
      await delay(busyMs);
    }
  }

  /** All in one go, as ever; only if that fails for a reason of its data, one is separated from the other. */
  async #drawMoves(limit: number): Promise<number> {
    try {
      return await this.#notifying((client, notified) => this.#drawFrom(client, limit, together, notified));
    } catch (error) {
      if (!isOfData(error)) throw error;
      return this.#notifying((client, notified) => this.#drawFrom(client, limit, apart(client), notified));
    }
  }

  async #drawFrom(
    client: pg.ClientBase,
    limit: number,
    isolate: Isolate,
    notified: Set<string | null>,
  ): Promise<number> {
    const { rows } = await client.query<OutboxRow>({ ...takeMoves, values: [limit] });
    await isolate(
      rows,
      (moves) => this.#resolve(client, moves, isolate, notified),
      (move, error) => this.#put(client, { ...about(move), key: `move ${move.id}`, item: [move] }, error),
    );
    return rows.length;
  }

  /** Tries again what was set aside: each by itself, and what fails stays there. */
  async #drawAside(): Promise<number> {
    return this.#notifying(async (client, notified) => {
      const { rows } = await client.query<AsideRow>({ ...takeAside, values: ['resolver', maxAgain] });
      const isolate = apart(client);
      for (const row of rows) {
        await isolate(
          [row],
          async () => {
            await this.#resolve(client, row.item ?? [], together, notified);
            await client.query({ ...deleteAside, values: [row.id] });
          },
          (_, error) => this.#put(client, { key: row.key, item: row.item ?? [] }, error),
        );
      }
      return rows.length;
    });
  }

  async #resolve(
    client: pg.ClientBase,
    moves: readonly OutboxRow[],
    isolate: Isolate,
    notified: Set<string | null>,
  ): Promise<void> {
    const options: ResolveOptions = { isolate, setAside: (aside, error) => this.#put(client, aside, error) };
    for (const resolver of this.#resolvers) {
      for (const queue of await resolver.resolve(client, moves, options)) notified.add(queue);
    }
  }

  #put(client: pg.ClientBase, aside: Omit<Aside, 'role'>, error: unknown): Promise<void> {
    return this.#setAside.put(client, { ...aside, role: 'resolver' }, error);
  }

  async #notifying(
    work: (client: pg.ClientBase, notified: Set<string | null>) => Promise<number>,
  ): Promise<number> {
    const notified = new Set<string | null>();
    const settled = await this.#database.transaction((client) => {
      notified.clear();
      return work(client, notified);
    });
    for (const queue of notified) this.#notify(queue);
    return settled;
  }
}

interface AsideRow {
  id: string;
  key: string;
  item: OutboxRow[] | null;
}

/** The end of a batch is noted without a queue. */
function about({ queue_id: queueId, job_id: jobId }: OutboxRow): Pick<Aside, 'queueId' | 'jobId'> {
  return queueId > 0 ? { queueId, jobId } : {};
}
