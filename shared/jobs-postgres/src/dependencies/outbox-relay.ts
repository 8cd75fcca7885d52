import type { Notification } from '@longshore/jobs/storage';
import { setTimeout as delay } from 'node:timers/promises';
import type { Connection } from '../connection/connection.js';
import type { Database } from '../connection/database.js';
import { isOfData } from '../connection/errors.js';
import { allOrNothing, bisecting, type Isolate } from '../connection/isolation.js';
import { type Aside, deleteAside, lockAsideDue, type PostgresSetAside } from '../records/set-aside.js';
import type { DependencyMarker } from './dependency-marker.js';
import { findWork, type OutboxRow, takeEntries } from '../jobs/outbox.sql.js';

/** Pause before locked parents are tried again, in milliseconds. Claiming or finishing a job takes about this long. */
const lockedParentRetryMs = 10;
const maxTries = 3;

/** Maximum number of set-aside items retried in one transaction. */
const maxSetAsideRetries = 20;

/** Options of {@link DependencyResolver.resolve}, for setting aside rows that cannot be processed. */
export interface ResolveOptions {
  readonly isolate: Isolate;
  readonly setAside: (aside: Omit<Aside, 'role'>, error: unknown) => Promise<void>;
}

/** Applies the effects that state changes have on other jobs, in a transaction of the outbox relay. */
export interface DependencyResolver {
  /**
   * Processes state changes. Resolves to the notifications to send after the commit: queues with newly ready jobs, and
   * `null` if there is other background work.
   */
  resolve(
    client: Connection,
    entries: readonly OutboxRow[],
    options: ResolveOptions,
  ): Promise<Iterable<Notification>>;
}

/**
 * Takes state changes from the outbox, and has the resolvers apply the effects of these changes on other jobs and
 * batches.
 */
export class OutboxRelay {
  readonly #database: Database;
  readonly #marker: DependencyMarker;
  readonly #resolvers: readonly DependencyResolver[];
  readonly #setAside: PostgresSetAside;
  readonly #notify: (notification: Notification) => void;

  constructor(
    database: Database,
    marker: DependencyMarker,
    resolvers: readonly DependencyResolver[],
    setAside: PostgresSetAside,
    notify: (notification: Notification) => void,
  ) {
    this.#database = database;
    this.#marker = marker;
    this.#resolvers = resolvers;
    this.#setAside = setAside;
    this.#notify = notify;
  }

  async relay(limit: number): Promise<number> {
    const [work] = await this.#database.query<{ entries: boolean; unmarked: boolean; aside: boolean }>(
      findWork,
    );
    if (work === undefined) return 0;
    if (work.aside) await this.#resolveAside();
    const marked = work.unmarked ? await this.#markDependencies() : 0;
    return marked + (work.entries || marked > 0 ? await this.#resolveEntries(limit) : 0);
  }

  async #markDependencies(): Promise<number> {
    let marked = 0;
    for (let attempt = 1; ; attempt++) {
      const report = await this.#marker.mark();
      marked += report.marked;
      if (report.busy === 0 || attempt === maxTries) return marked;
      await delay(lockedParentRetryMs);
    }
  }

  /** Processes all rows together. If their data causes an error, starts over in a mode that sets faulty rows aside. */
  async #resolveEntries(limit: number): Promise<number> {
    try {
      return await this.#notifying((client, notified) =>
        this.#resolveFrom(client, limit, allOrNothing, notified),
      );
    } catch (error) {
      if (!isOfData(error)) throw error;
      return this.#notifying((client, notified) =>
        this.#resolveFrom(client, limit, bisecting(client), notified),
      );
    }
  }

  async #resolveFrom(
    client: Connection,
    limit: number,
    isolate: Isolate,
    notified: Set<Notification>,
  ): Promise<number> {
    const { rows } = await client.query<OutboxRow>(takeEntries, [limit]);
    await isolate(
      rows,
      (entries) => this.#resolve(client, entries, isolate, notified),
      (entry, error) =>
        this.#put(client, { ...subjectOf(entry), key: `move ${entry.id}`, item: [entry] }, error),
    );
    return rows.length;
  }

  /**
   * Retries set-aside items that are due, each separately. Items that fail again stay set aside. Returns the number of
   * items tried.
   */
  async #resolveAside(): Promise<number> {
    return this.#notifying(async (client, notified) => {
      const { rows } = await client.query<AsideRow>(lockAsideDue, ['resolver', maxSetAsideRetries]);
      const isolate = bisecting(client);
      for (const row of rows) {
        await isolate(
          [row],
          async () => {
            await this.#resolve(client, row.item ?? [], allOrNothing, notified);
            await client.query(deleteAside, [row.id]);
          },
          (_, error) => this.#put(client, { key: row.key, item: row.item ?? [] }, error),
        );
      }
      return rows.length;
    });
  }

  async #resolve(
    client: Connection,
    entries: readonly OutboxRow[],
    isolate: Isolate,
    notified: Set<Notification>,
  ): Promise<void> {
    const options: ResolveOptions = { isolate, setAside: (aside, error) => this.#put(client, aside, error) };
    for (const resolver of this.#resolvers) {
      for (const notification of await resolver.resolve(client, entries, options)) notified.add(notification);
    }
  }

  #put(client: Connection, aside: Omit<Aside, 'role'>, error: unknown): Promise<void> {
    return this.#setAside.put(client, { ...aside, role: 'resolver' }, error);
  }

  async #notifying(
    work: (client: Connection, notified: Set<Notification>) => Promise<number>,
  ): Promise<number> {
    const notified = new Set<Notification>();
    const count = await this.#database.transaction((client) => {
      notified.clear();
      return work(client, notified);
    });
    for (const notification of notified) this.#notify(notification);
    return count;
  }
}

interface AsideRow {
  id: string;
  key: string;
  item: OutboxRow[] | null;
}

/**
 * Returns the queue and job of an outbox row. Returns neither if the queue is 0, because the row may be about a batch.
 */
function subjectOf({ queue_id: queueId, job_id: jobId }: OutboxRow): Pick<Aside, 'queueId' | 'jobId'> {
  return queueId > 0 ? { queueId, jobId } : {};
}
