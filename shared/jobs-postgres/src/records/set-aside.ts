import type { TransactionClient } from '@longshore/jobs';
import {
  bulkRequestOf,
  type Clock,
  type ControlOptions,
  IdSource,
  type SetAside,
  type SetAsideItem,
  type SetAsideListener,
  type SetAsideQuery,
  type SetAsideRole,
  setAsideRoles,
  toJobError,
  type Notification,
} from '@longshore/jobs/storage';
import type { Connection } from '../connection/connection.js';
import type { Database } from '../connection/database.js';
import { afterCommit, type Run, runOf } from '../connection/run.js';
import { inTransaction } from './audit.js';
import { bulkValues, insertBulk } from './bulk-operations.sql.js';
import * as sql from './set-aside.sql.js';

/** An item to set aside. The key identifies the item within its role. */
export interface Aside {
  readonly role: SetAsideRole;
  readonly key: string;
  readonly queueId?: number;
  readonly jobId?: string;
  /** The data needed for a retry, if it is stored nowhere else. */
  readonly item?: readonly unknown[];
}

/** Stores items that background work could not process. */
export class PostgresSetAside implements SetAside {
  readonly #database: Database;
  readonly #listeners = new Set<SetAsideListener>();

  readonly #ids: IdSource;
  readonly #notify: (notification: Notification) => void;

  constructor(database: Database, clock: Clock, notify: (notification: Notification) => void) {
    this.#database = database;
    this.#ids = new IdSource(clock);
    this.#notify = notify;
  }

  /**
   * Sets an item aside in the caller's transaction.
   *
   * @throws the given error if too many items of this role are already set aside
   */
  async put(client: Connection, aside: Aside, error: unknown): Promise<void> {
    const { rows } = await client.query<{ fresh: boolean }>(sql.insertAside, valuesOf(aside, error));
    this.#notifyListeners(aside, error, rows[0]);
  }

  /**
   * Sets an item aside in a separate transaction.
   *
   * @throws the given error if too many items of this role are already set aside
   */
  async putInOwnTransaction(aside: Aside, error: unknown): Promise<void> {
    const [row] = await this.#database.query<{ fresh: boolean }>(sql.insertAside, valuesOf(aside, error));
    this.#notifyListeners(aside, error, row);
  }

  /** Returns the keys of a role's items that are discarded or not due for a retry yet. */
  async excludedKeys(role: SetAsideRole): Promise<Set<string>> {
    const rows = await this.#database.query<{ key: string }>(sql.selectExcludedKeys, [role]);
    return new Set(rows.map(({ key }) => key));
  }

  /** Removes the items of keys that have been processed successfully. Keys without an item are ignored. */
  async removeProcessed(role: SetAsideRole, keys: readonly string[]): Promise<void> {
    await this.#database.query(sql.deleteProcessedAside, [role, keys]);
  }

  async list({ limit, after }: SetAsideQuery): Promise<SetAsideItem[]> {
    const rows = await this.#database.query<sql.SetAsideRow>(sql.selectAside, [limit, numberOf(after)]);
    return rows.map(toItem);
  }

  async find(id: string, transaction?: TransactionClient): Promise<SetAsideItem | null> {
    const number = numberOf(id);
    if (number === null) return null;
    const run = runOf(this.#database, transaction);
    const [row] = (await run(sql.findAside, [number])) as readonly sql.SetAsideRow[];
    return row === undefined ? null : toItem(row);
  }

  async count(): Promise<Record<SetAsideRole, number>> {
    const counts = Object.fromEntries(setAsideRoles.map((role) => [role, 0])) as Record<SetAsideRole, number>;
    const rows = await this.#database.query<{ role: SetAsideRole; items: number }>(sql.countAside);
    for (const { role, items } of rows) counts[role] = items;
    return counts;
  }

  retry(
    id: string,
    options?: ControlOptions<SetAsideItem, SetAsideItem | null>,
  ): Promise<SetAsideItem | null> {
    return this.#change(id, options, async (run, item) => {
      if (item.role !== 'bulk') return void (await run(sql.retryAside, [item.id]));
      const { action, filter } = bulkRequestOf(item);
      await run(sql.deleteAside, [item.id]);
      const matched = { count: 1, exact: true };
      await run(insertBulk, bulkValues(this.#ids.newId(), { action, filter, matched }));
      await afterCommit(options?.transaction, this.#database.schema, ['bulk'], () =>
        this.#notify({ kind: 'bulk' }),
      );
    });
  }

  discard(
    id: string,
    options?: ControlOptions<SetAsideItem, SetAsideItem | null>,
  ): Promise<SetAsideItem | null> {
    return this.#change(id, options, async (run, item) => void (await run(sql.discardAside, [item.id])));
  }

  listen(listener: SetAsideListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async #change(
    id: string,
    options: ControlOptions<SetAsideItem, SetAsideItem | null> = {},
    change: (run: Run, item: SetAsideItem) => Promise<void>,
  ): Promise<SetAsideItem | null> {
    const number = numberOf(id);
    return inTransaction(this.#database, options, async (run, record) => {
      const [row] =
        number === null ? [] : ((await run(sql.lockAside, [number])) as readonly sql.SetAsideRow[]);
      const item = row === undefined ? null : toItem(row);
      if (item !== null) {
        options.check?.(item);
        await change(run, item);
      }
      await record(item);
      return item;
    });
  }

  #notifyListeners({ role, key, jobId }: Aside, error: unknown, row: { fresh: boolean } | undefined): void {
    if (row === undefined) throw error;
    if (!row.fresh) return;
    for (const listener of this.#listeners)
      listener({ role, key, jobId: jobId ?? null, error: toJobError(error) });
  }
}

function toItem(row: sql.SetAsideRow): SetAsideItem {
  return {
    id: row.id,
    role: row.role,
    key: row.key,
    queue: row.queue,
    jobId: row.job_id,
    error: row.error,
    failures: row.failures,
    createdAt: row.created_at,
    failedAt: row.failed_at,
    retryAt: row.retry_at,
  };
}

function valuesOf({ role, key, queueId, jobId, item }: Aside, error: unknown): unknown[] {
  return [
    role,
    key,
    queueId ?? null,
    jobId ?? null,
    item === undefined ? null : JSON.stringify(item),
    JSON.stringify(toJobError(error)),
  ];
}

/** Returns the id if it consists of 1 to 18 digits, so that it fits into a `bigint`; otherwise `null`. */
function numberOf(id: string | undefined): string | null {
  return id !== undefined && /^\d{1,18}$/.test(id) ? id : null;
}
