import type { ApiResponse } from '../request/request.js';
import type { Queryable } from '../table/database.js';
import { quotedTable } from '../table/columns.js';
import { type IdempotencyStore, keptForMs, type Reservation, runningForMs } from './store.js';

/** The statements that make the table of `tableIdempotencyStore`, for a migration. */
export function idempotencyTable(table: string): string {
  const name = quotedTable(table);
  return `
    create table ${name} (
      key text primary key,
      fingerprint text not null,
      response jsonb,
      expires_at timestamptz not null
    );
    create index on ${name} (expires_at);`;
}

/**
 * An idempotency store in Postgres, shared by all processes.
 * @param table made by `idempotencyTable`
 */
export function tableIdempotencyStore(database: Queryable, table: string): IdempotencyStore {
  const name = quotedTable(table);
  return {
    async begin(key, fingerprint): Promise<Reservation> {
      // Each request clears away up to two expired keys besides its own, so the table does not grow.
      await database.query(
        `delete from ${name} where key in (select key from ${name} where expires_at < now() limit 2 for update skip locked)`,
      );
      const taken = await database.query(
        `insert into ${name} as k (key, fingerprint, expires_at)
         values ($1, $2, now() + $3 * interval '1 millisecond')
         on conflict (key) do update
           set fingerprint = excluded.fingerprint, response = null, expires_at = excluded.expires_at
           where k.expires_at < now()
         returning key`,
        [key, fingerprint, runningForMs],
      );
      if (taken.rowCount === 1) return { kind: 'begun' };
      const { rows } = await database.query(`select fingerprint, response from ${name} where key = $1`, [
        key,
      ]);
      const row = rows[0];
      if (row === undefined) return { kind: 'running' };
      if (row['fingerprint'] !== fingerprint) return { kind: 'other-request' };
      const response = row['response'] as ApiResponse | null;
      return response === null ? { kind: 'running' } : { kind: 'finished', response };
    },
    async finish(key, response) {
      await database.query(
        `update ${name} set response = $2, expires_at = now() + $3 * interval '1 millisecond' where key = $1`,
        [key, JSON.stringify(response), keptForMs],
      );
    },
    async release(key) {
      await database.query(`delete from ${name} where key = $1 and response is null`, [key]);
    },
  };
}
