import { type Database, inTransaction, type Queryable } from '@longshore/resources';
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
 */
export function tableApiKeyStore(database: Database, table: string): ApiKeyStore {
  const find = async (on: Queryable, id: string, lock: '' | 'for update'): Promise<ApiKey | undefined> => {
    const { rows } = await on.query<Row>(`select ${columns} from ${table} where id = $1 ${lock}`, [id]);
    return rows[0] && toKey(rows[0]);
  };

  return {
    list: async () => (await database.query<Row>(`select ${columns} from ${table}`)).rows.map(toKey),
    find: (id) => find(database, id, ''),
    add: async (key, transaction) => {
      const on: Queryable = transaction ?? database;
      const { id, hash, name, scopes, queues, expiresAt, createdBy } = key;
      const { rows } = await on.query<Row>(
        `insert into ${table} (${columns}) values ($1, $2, $3, $4, $5, $6, now(), $7, null) returning ${columns}`,
        [id, hash, name, scopes, queues, expiresAt, createdBy],
      );
      const [row] = rows;
      if (row === undefined) throw new Error('The insert returned no row');
      return toKey(row);
    },
    change: (id, change, given) =>
      inTransaction(given ?? database, async (transaction) => {
        const current = await find(transaction, id, 'for update');
        if (current === undefined) return undefined;
        const terms = change(current);
        const { name, scopes, queues, expiresAt } = terms;
        await transaction.query(
          `update ${table} set name = $2, scopes = $3, queues = $4, expires_at = $5 where id = $1`,
          [id, name, scopes, queues, expiresAt],
        );
        return { ...current, ...terms };
      }),
    remove: (id, check, given) =>
      inTransaction(given ?? database, async (transaction) => {
        const current = await find(transaction, id, 'for update');
        if (current === undefined) return false;
        check(current);
        await transaction.query(`delete from ${table} where id = $1`, [id]);
        return true;
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
