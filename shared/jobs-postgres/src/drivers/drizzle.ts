import type { TransactionClient } from '@longshore/jobs';
import { requireOpen } from './check-transaction.js';

/** The part of a Drizzle transaction that enqueueing uses. */
export interface DrizzleTransaction {
  execute(query: never): PromiseLike<unknown>;
  rollback(): never;
}

/**
 * Adapts a Drizzle transaction for enqueueing, with the drivers `node-postgres`, `postgres-js` or `pglite`:
 * `{ transaction: drizzleTransaction(tx) }`.
 *
 * @throws {TypeError} if `tx` is a database instead of a transaction
 */
export function drizzleTransaction(tx: DrizzleTransaction): TransactionClient {
  requireOpen(typeof tx.rollback === 'function', 'Drizzle', 'db.transaction(async (tx) => …)');
  return {
    query: async (text, values = []) => {
      // Drizzle passes such a query on unchanged: its text and parameters.
      const query = { getSQL: () => ({ toQuery: () => ({ sql: text, params: values }) }) };
      const result = await tx.execute(query as never);
      return { rows: (Array.isArray(result) ? result : (result as { rows: unknown[] }).rows) as never[] };
    },
  };
}
