import { setTimeout as pause } from 'node:timers/promises';
import type { ApiResponse } from '../pipeline/request/request.js';
import { quotedTable } from './columns.js';
import type { Database, Transaction } from '../database/database.js';
import { inTransaction } from '../database/transaction.js';
import { type Answers, type IdempotencyStore, keptForMs, type KeyedRequest, type Outcome } from '../pipeline/idempotency/store.js';

/** How often and how long a request waits for the one with its key that is being performed; no connection is held meanwhile. */
const looks = 5;
const lookEachMs = 50;

/** Another process has kept an answer under the key although this one held its lock. */
class KeyTakenError extends Error {
  override readonly name = 'KeyTakenError';
}

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
 * An idempotency store in Postgres, shared by all processes. What a request writes in its transaction and the kept answer
 * commit together: a crash at any instant leaves both or neither. Times are by the database's clock.
 *
 * @param table made by `idempotencyTable`
 */
export function tableIdempotencyStore(database: Database, table: string): IdempotencyStore {
  const statements = statementsOf(quotedTable(table));

  /** Undefined: another request with this key is being performed. */
  const attempt = async (
    { key, fingerprint }: KeyedRequest,
    act: (transaction: Transaction) => Promise<Answers>,
    transaction: Transaction,
  ): Promise<Outcome | undefined> => {
    const { rows: locks } = await transaction.query<{ locked: boolean }>(statements.lock, [key]);
    if (locks[0]?.locked !== true) return undefined;
    // A statement of its own: it sees what was committed before the lock was taken.
    const { rows } = await transaction.query<{ fingerprint: string; response: ApiResponse | null }>(
      statements.find,
      [key],
    );
    const [found] = rows;
    if (found !== undefined && found.fingerprint !== fingerprint) return { kind: 'other-request' };
    if (found !== undefined)
      return found.response === null ? undefined : { kind: 'answered', response: found.response };
    const { now, kept } = await act(transaction);
    const values = [key, fingerprint, JSON.stringify(kept), keptForMs];
    if ((await transaction.query(statements.keep, values)).rowCount !== 1) throw new KeyTakenError();
    return { kind: 'answered', response: now };
  };

  return {
    async perform(request, act) {
      for (let look = 1; ; look += 1) {
        try {
          const outcome = await inTransaction(database, (transaction) => attempt(request, act, transaction));
          if (outcome !== undefined) return outcome;
        } catch (error) {
          if (!(error instanceof KeyTakenError)) throw error;
        }
        if (look === looks) return { kind: 'running' };
        await pause(lookEachMs);
      }
    },
  };
}

function statementsOf(name: string): Readonly<Record<'lock' | 'find' | 'keep', string>> {
  return {
    /** $1 key. Held until the transaction ends, however it ends. */
    lock: 'select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as locked',
    /** $1 key. */
    find: `select fingerprint, response from ${name} where key = $1 and expires_at > now()`,
    /** $1 key, $2 fingerprint, $3 answer, $4 milliseconds. Clears away up to two other expired keys, so that the table does not grow. */
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
