import type { JobError, TransactionClient } from '@longshore/jobs';
import {
  bulkRequestOf,
  type Clock,
  type ControlOptions,
  IdSource,
  maxSetAside,
  type Notification,
  type SetAside,
  type SetAsideItem,
  type SetAsideListener,
  type SetAsideQuery,
  type SetAsideRole,
  setAsideRoles,
  toJobError,
} from '@longshore/jobs/storage';
import type { Connection } from '../connection/connection.js';
import type { Database } from '../connection/database.js';
import { afterCommit, type Run, runOf } from '../connection/run.js';
import { inTransaction } from './audit.js';
import { bulkValues, insertBulk } from './bulk-operations.sql.js';
import { prepared } from '../connection/statement.js';

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
    const { rows } = await client.query<{ fresh: boolean }>(insertAside, valuesOf(aside, error));
    this.#notifyListeners(aside, error, rows[0]);
  }

  /**
   * Sets an item aside in a separate transaction.
   *
   * @throws the given error if too many items of this role are already set aside
   */
  async putInOwnTransaction(aside: Aside, error: unknown): Promise<void> {
    const [row] = await this.#database.query<{ fresh: boolean }>(insertAside, valuesOf(aside, error));
    this.#notifyListeners(aside, error, row);
  }

  /** Returns the keys of a role's items that are discarded or not due for a retry yet. */
  async excludedKeys(role: SetAsideRole): Promise<Set<string>> {
    const rows = await this.#database.query<{ key: string }>(selectExcludedKeys, [role]);
    return new Set(rows.map(({ key }) => key));
  }

  /** Removes the items of keys that have been processed successfully. Keys without an item are ignored. */
  async removeProcessed(role: SetAsideRole, keys: readonly string[]): Promise<void> {
    await this.#database.query(deleteProcessedAside, [role, keys]);
  }

  async list({ limit, after }: SetAsideQuery): Promise<SetAsideItem[]> {
    const rows = await this.#database.query<SetAsideRow>(selectAside, [limit, numberOf(after)]);
    return rows.map(toItem);
  }

  async find(id: string, transaction?: TransactionClient): Promise<SetAsideItem | null> {
    const number = numberOf(id);
    if (number === null) return null;
    const run = runOf(this.#database, transaction);
    const [row] = (await run(findAside, [number])) as readonly SetAsideRow[];
    return row === undefined ? null : toItem(row);
  }

  async count(): Promise<Record<SetAsideRole, number>> {
    const counts = Object.fromEntries(setAsideRoles.map((role) => [role, 0])) as Record<SetAsideRole, number>;
    const rows = await this.#database.query<{ role: SetAsideRole; items: number }>(countAside);
    for (const { role, items } of rows) counts[role] = items;
    return counts;
  }

  retry(
    id: string,
    options?: ControlOptions<SetAsideItem, SetAsideItem | null>,
  ): Promise<SetAsideItem | null> {
    return this.#change(id, options, async (run, item) => {
      if (item.role !== 'bulk') return void (await run(retryAside, [item.id]));
      const { action, filter } = bulkRequestOf(item);
      await run(deleteAside, [item.id]);
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
    return this.#change(id, options, async (run, item) => void (await run(discardAside, [item.id])));
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
      const [row] = number === null ? [] : ((await run(lockAside, [number])) as readonly SetAsideRow[]);
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

function toItem(row: SetAsideRow): SetAsideItem {
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

export interface SetAsideRow {
  id: string;
  role: SetAsideRole;
  key: string;
  queue: string | null;
  job_id: string | null;
  error: JobError;
  failures: number;
  created_at: Date;
  failed_at: Date;
  retry_at: Date | null;
}

/** SQL expression for the time until the next retry. Must match `setAsideRetryMs` of `@longshore/jobs`. */
const pause = `interval '1 minute' * least(power(2, aside.failures), 60)`;

/**
 * $1 role, $2 key, $3 queue, $4 job, $5 data for a retry (a JSON array) or null, $6 error. If the key is already set
 * aside, counts another failure and adds the new data to the stored data. `fresh` is true if the key is new. Returns no
 * row if the key is new and the role already has `maxSetAside` items that have not been discarded.
 */
export const insertAside = prepared(
  'longshore-insert-aside',
  `
    insert into longshore.set_aside as aside (role, key, queue_id, job_id, item, error)
    select $1, $2, $3::integer, $4::uuid, $5::jsonb, $6::jsonb
    where (select count(*) from longshore.set_aside where role = $1 and discarded_at is null) < ${maxSetAside}
      or exists (select 1 from longshore.set_aside where role = $1 and key = $2)
    on conflict (role, key) do update
    set error = excluded.error, failures = aside.failures + 1, failed_at = now(), retry_at = now() + ${pause},
      item = case when aside.item @> excluded.item then aside.item else coalesce(aside.item || excluded.item, excluded.item, aside.item) end
    returning failures = 1 as fresh`,
);

/** $1 role. Selects the keys of items that are discarded or not due for a retry yet. */
export const selectExcludedKeys = prepared(
  'longshore-select-excluded-keys',
  `
    select key from longshore.set_aside
    where role = $1 and (retry_at > now() or discarded_at is not null)`,
);

/** $1 role, $2 limit. Locks and returns the items that are due for a retry and whose data is stored nowhere else. */
export const lockAsideDue = prepared(
  'longshore-lock-aside-due',
  `
    select id, key, queue_id, job_id, item from longshore.set_aside
    where role = $1 and item is not null and retry_at <= now() and discarded_at is null
    order by id limit $2
    for update skip locked`,
);

/** $1 id. */
export const deleteAside = prepared(
  'longshore-delete-aside',
  'delete from longshore.set_aside where id = $1',
);

/** $1 role, $2 keys. Deletes items that have been processed successfully. */
export const deleteProcessedAside = prepared(
  'longshore-delete-processed-aside',
  `delete from longshore.set_aside where role = $1 and key = any($2::text[])`,
);

/**
 * Deletes items that are no longer needed:
 *
 * - items of bulk operations, 30 days after their last failure
 * - discarded items, 30 days after they were discarded
 * - other items that were due for a retry over an hour ago and have not failed since, unless their data is stored
 *   nowhere else
 */
export const deleteOldAside = prepared(
  'longshore-delete-old-aside',
  `
    delete from longshore.set_aside
    where item is null and discarded_at is null and role <> 'bulk' and retry_at < now() - interval '1 hour'
      or role = 'bulk' and failed_at < now() - interval '30 days'
      or discarded_at < now() - interval '30 days'`,
);

const columns = `aside.id::text, role, key, queue.name as queue, job_id, error, failures, aside.created_at, failed_at,
      case when role <> 'bulk' then retry_at end as retry_at
    from longshore.set_aside as aside left join longshore.queue on queue.id = aside.queue_id`;

/** $1 id. */
export const findAside = prepared(
  'longshore-find-aside',
  `select ${columns} where aside.id = $1 and discarded_at is null`,
);

/** $1 id. Locks the item until the transaction ends. */
export const lockAside = prepared(
  'longshore-lock-aside',
  `select ${columns} where aside.id = $1 and discarded_at is null for update of aside`,
);

/** $1 limit, $2 id to continue after, or null. Selects the items that have not been discarded, newest first. */
export const selectAside = prepared(
  'longshore-select-aside',
  `
    select ${columns} where discarded_at is null and ($2::bigint is null or aside.id < $2)
    order by aside.id desc limit $1`,
);

/** Returns the number of items by role, not counting discarded ones. Roles without items have no row. */
export const countAside = prepared(
  'longshore-count-aside',
  `
    select role, count(*)::integer as items from longshore.set_aside where discarded_at is null group by role`,
);

/** $1 id. Makes an item due for a retry. */
export const retryAside = prepared(
  'longshore-retry-aside',
  `update longshore.set_aside set retry_at = now() where id = $1 and discarded_at is null returning id`,
);

/** $1 id. Marks an item as discarded by an operator. */
export const discardAside = prepared(
  'longshore-discard-aside',
  `update longshore.set_aside set discarded_at = now() where id = $1 and discarded_at is null returning id`,
);
