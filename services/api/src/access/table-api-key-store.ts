import type { TransactionClient } from '@longshore/jobs';
import type { ActionOptions, AuditLog } from '@longshore/jobs/storage';
import { type Database, inTransaction } from '@longshore/resources';
import type { ApiKey, Scope } from './api-key.js';
import type { ApiKeyStore } from './api-key-store.js';

interface Row {
  readonly id: string;
  readonly hash: Buffer;
  readonly name: string;
  readonly scopes: Scope[];
  readonly queues: string[] | null;
  readonly expires_at: Date | null;
  readonly created_at: Date;
  readonly created_by: string | null;
  readonly last_used_at: Date | null;
}

const columns = 'id, hash, name, scopes, queues, expires_at, created_at, created_by, last_used_at';

/**
 * Creates a store that keeps API keys in a Postgres table, shared by all processes.
 *
 * @param table the qualified name of the table; a migration creates the table
 * @param log where changes are recorded; in the same database
 */
export function tableApiKeyStore(database: Database, table: string, log: AuditLog): ApiKeyStore {
  const find = async (
    on: Pick<TransactionClient, 'query'>,
    id: string,
    lock: '' | 'for update',
  ): Promise<ApiKey | null> => {
    const { rows } = await on.query<Row>(`select ${columns} from ${table} where id = $1 ${lock}`, [id]);
    return rows[0] === undefined ? null : toKey(rows[0]);
  };
  /** Makes a change and stores its audit entry, in the transaction of the options or in one of its own. */
  const recorded = async <Result>(
    { transaction: ofCaller, audit }: ActionOptions<Result>,
    change: (on: TransactionClient) => Promise<Result>,
  ): Promise<Result> => {
    const work = async (transaction: TransactionClient): Promise<Result> => {
      const result = await change(transaction);
      const entry = audit?.(result) ?? null;
      if (entry !== null) await log.record(entry, transaction);
      return result;
    };
    return ofCaller === undefined ? inTransaction(database, work) : work(ofCaller);
  };

  return {
    list: async () => (await database.query<Row>(`select ${columns} from ${table}`)).rows.map(toKey),
    find: async (id) => (await find(database, id, '')) ?? undefined,
    add: (key, options = {}) =>
      recorded(options, async (transaction) => {
        const { id, hash, name, scopes, queues, expiresAt, createdBy } = key;
        const { rows } = await transaction.query<Row>(
          `insert into ${table} (${columns}) values ($1, $2, $3, $4, $5, $6, now(), $7, null) returning ${columns}`,
          [id, hash, name, scopes, queues, expiresAt, createdBy],
        );
        const [row] = rows;
        if (row === undefined) throw new Error('The insert returned no row');
        return toKey(row);
      }),
    change: (id, change, options = {}) =>
      recorded(options, async (transaction) => {
        const before = await find(transaction, id, 'for update');
        if (before === null) return null;
        const terms = change(before);
        const { name, scopes, queues, expiresAt } = terms;
        await transaction.query(
          `update ${table} set name = $2, scopes = $3, queues = $4, expires_at = $5 where id = $1`,
          [id, name, scopes, queues, expiresAt],
        );
        return { before, after: { ...before, ...terms } };
      }),
    remove: (id, options = {}) =>
      recorded(options, async (transaction) => {
        const key = await find(transaction, id, 'for update');
        if (key === null) return null;
        options.check?.(key);
        await transaction.query(`delete from ${table} where id = $1`, [id]);
        return key;
      }),
    noteUse: async (id) => {
      await database.query(`update ${table} set last_used_at = now() where id = $1`, [id]);
    },
  };
}

function toKey(row: Row): ApiKey {
  return {
    id: row.id,
    hash: row.hash,
    name: row.name,
    scopes: row.scopes,
    queues: row.queues,
    expiresAt: row.expires_at,
    createdAt: row.created_at,
    createdBy: row.created_by,
    lastUsedAt: row.last_used_at,
  };
}
