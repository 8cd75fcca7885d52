import type { TransactionClient } from '@longshore/jobs';
import { requireOpen } from './check-transaction.js';

/** The part of a Drizzle transaction that enqueueing needs. */
export interface DrizzleTransaction {
  execute(query: never): PromiseLike<unknown>;
  rollback(): never;
}

/**
 * Enqueues in a transaction of Drizzle, with the drivers `node-postgres`, `postgres-js` or `pglite`:
 * `{ transaction: drizzleTransaction(tx) }`.
 *
 * @throws {TypeError} if it is a database instead of a transaction
 */
export function drizzleTransaction(tx: DrizzleTransaction): TransactionClient {
  requireOpen(typeof tx.rollback === 'function', 'Drizzle', 'db.transaction(async (tx) => …)');
  return {
    query: async (text, values = []) => {
      // The form of a query to which Drizzle has nothing to add: the text and its parameters as they are.
      const query = { getSQL: () => ({ toQuery: () => ({ sql: text, params: values }) }) };
      const result = await tx.execute(query as never);
      return { rows: (Array.isArray(result) ? result : (result as { rows: unknown[] }).rows) as never[] };
    },
  };
}
