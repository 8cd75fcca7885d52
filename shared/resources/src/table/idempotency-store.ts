import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, inTransaction, type Transaction } from '../database/database.js';
import {
  type IdempotencyStore,
  type KeyedRequest,
  type KeyedResponse,
  type KeyedResult,
  recordTtlMs,
} from '../pipeline/idempotency.js';
import type { ApiResponse } from '../pipeline/request.js';
import { quotedTable } from './columns.js';

/** Maximum number of attempts to lock a key while another request with the same key is in progress. */
const attempts = 5;
/** Pause between two attempts, in milliseconds. The request uses no connection during the pause. */
const pauseMs = 50;

/**
 * Thrown if another process has written a record for the key, although this process holds the lock on the key. Handled
 * as if the other request were still in progress.
 */
class KeyTakenError extends Error {
  override readonly name = 'KeyTakenError';
}

/** Returns the statements that create the table of `tableIdempotencyStore`, for a migration. */
export function idempotencyTable(table: string): string {
  const name = quotedTable(table);
  return `
    create table ${name} (
      key text primary key,
      fingerprint text not null,
      response jsonb not null,
      expires_at timestamptz not null
    );
    create index on ${name} (expires_at);`;
}

/**
 * Creates an idempotency store in Postgres, shared by all processes. The record is committed together with the changes
 * of the request, so a crash leaves both or neither. Records expire by the database's clock.
 *
 * @param table the name of a table created by `idempotencyTable`
 */
export function tableIdempotencyStore(database: Database, table: string): IdempotencyStore {
  const statements = statementsOf(quotedTable(table));

  /**
   * Performs the request, or returns the recorded result. Resolves to undefined if another request with the same key is
   * in progress.
   */
  const tryOnce = async (
    { key, fingerprint }: KeyedRequest,
    act: (transaction: Transaction) => Promise<KeyedResponse>,
    transaction: Transaction,
  ): Promise<KeyedResult | undefined> => {
    const { rows: locks } = await transaction.query<{ locked: boolean }>(statements.lock, [key]);
    if (locks[0]?.locked !== true) return undefined;
    // A separate statement sees everything that was committed before the lock was taken.
    const { rows } = await transaction.query<{ fingerprint: string; response: ApiResponse }>(
      statements.find,
      [key],
    );
    const [existing] = rows;
    if (existing !== undefined && existing.fingerprint !== fingerprint) return { kind: 'other-request' };
    if (existing !== undefined) return { kind: 'answered', response: existing.response };
    const { response, record } = await act(transaction);
    const values = [key, fingerprint, JSON.stringify(record), recordTtlMs];
    if ((await transaction.query(statements.keep, values)).rowCount !== 1) throw new KeyTakenError();
    return { kind: 'answered', response };
  };

  return {
    async perform(request, act) {
      for (let attempt = 1; ; attempt += 1) {
        try {
          const result = await inTransaction(database, (transaction) => tryOnce(request, act, transaction));
          if (result !== undefined) return result;
        } catch (error) {
          if (!(error instanceof KeyTakenError)) throw error;
        }
        if (attempt === attempts) return { kind: 'running' };
        await sleep(pauseMs);
      }
    },
  };
}

function statementsOf(name: string): Readonly<Record<'lock' | 'find' | 'keep', string>> {
  return {
    /** $1 key. The lock is released at the end of the transaction. */
    lock: 'select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as locked',
    /** $1 key. */
    find: `select fingerprint, response from ${name} where key = $1 and expires_at > now()`,
    /**
     * $1 key, $2 fingerprint, $3 response to record, $4 milliseconds until the record expires. Also deletes up to two
     * other expired records, so that the table does not keep growing.
     */
    keep: `
      with expired as (
        delete from ${name} where key in (
          select key from ${name} where expires_at < now() and key <> $1 limit 2 for update skip locked)
      )
      insert into ${name} as k (key, fingerprint, response, expires_at)
      values ($1, $2, $3, now() + $4 * interval '1 millisecond')
      on conflict (key) do update
        set fingerprint = excluded.fingerprint, response = excluded.response, expires_at = excluded.expires_at
        where k.expires_at <= now()`,
  };
}
