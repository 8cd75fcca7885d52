import type { TransactionClient } from '@longshore/jobs';
import { adapterOf, hasMethods, requireOpen } from './check-transaction.js';

/** The part of a Drizzle transaction that enqueueing uses. */
export interface DrizzleTransaction {
  execute(query: never): PromiseLike<unknown>;
  rollback(): never;
}

/**
 * Adapts a Drizzle transaction, so that jobs can be enqueued in it: `{ transaction: drizzleTransaction(tx) }`. Supports
 * the drivers `node-postgres`, `postgres-js` and `pglite`.
 *
 * @throws {TypeError} if `tx` is a database instead of a transaction
 */
export function drizzleTransaction(tx: DrizzleTransaction): TransactionClient {
  requireOpen(tx, hasMethods(tx, 'rollback', 'execute'), 'Drizzle', 'db.transaction(async (tx) => …)');
  return adapterOf(tx, () => ({
    query: async (text, values = []) => {
      // Drizzle sends the text and parameters of such a query unchanged.
      const query = { getSQL: () => ({ toQuery: () => ({ sql: text, params: values }) }) };
      const result = await tx.execute(query as never);
      return { rows: (Array.isArray(result) ? result : (result as { rows: unknown[] }).rows) as never[] };
    },
  }));
}
