import type { TransactionClient } from '@longshore/jobs';
import { requireOpen } from './check-transaction.js';

/** The part of a transaction of postgres.js that enqueueing needs. */
export interface PostgresJsTransaction {
  unsafe(query: string, values: never[]): PromiseLike<readonly unknown[]>;
  typed(value: never, oid: number): unknown;
  savepoint: unknown;
}

/** The type `unknown`, for which Postgres chooses the type from the context. */
const unknownOid = 705;

/**
 * Enqueues in a transaction of postgres.js: `{ transaction: postgresJsTransaction(sql) }`.
 *
 * @throws {TypeError} if it is a connection instead of a transaction
 */
export function postgresJsTransaction(sql: PostgresJsTransaction): TransactionClient {
  requireOpen(typeof sql.savepoint === 'function', 'postgres.js', 'sql.begin(async (sql) => …)');
  // postgres.js would turn JSON text into a JSON string once more.
  const asIs = (value: unknown): unknown =>
    typeof value === 'string' ? sql.typed(value as never, unknownOid) : value;
  return {
    query: async (text, values = []) => ({
      rows: (await sql.unsafe(text, values.map(asIs) as never[])) as never[],
    }),
  };
}
