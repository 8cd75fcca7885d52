import type { TransactionClient } from '@longshore/jobs';
import { adapterOf, hasMethods, requireOpen } from './check-transaction.js';

/** The part of a postgres.js transaction that enqueueing uses. */
export interface PostgresJsTransaction {
  unsafe(query: string, values: never[]): PromiseLike<readonly unknown[]>;
  typed(value: never, oid: number): unknown;
  savepoint: unknown;
}

/** OID of the type `unknown`; Postgres infers the actual type of such a value from the context. */
const unknownOid = 705;

/**
 * Adapts a postgres.js transaction, so that jobs can be enqueued in it: `{ transaction: postgresJsTransaction(sql) }`.
 *
 * @throws {TypeError} if `sql` is a connection instead of a transaction
 */
export function postgresJsTransaction(sql: PostgresJsTransaction): TransactionClient {
  const isOpen = hasMethods(sql, 'savepoint', 'unsafe', 'typed');
  requireOpen(sql, isOpen, 'postgres.js', 'sql.begin(async (sql) => …)');
  // Strings are sent unchanged, because postgres.js would encode JSON text as JSON a second time.
  const asIs = (value: unknown): unknown =>
    typeof value === 'string' ? sql.typed(value as never, unknownOid) : value;
  return adapterOf(sql, () => ({
    query: async (text, values = []) => ({
      rows: (await sql.unsafe(text, values.map(asIs) as never[])) as never[],
    }),
  }));
}
