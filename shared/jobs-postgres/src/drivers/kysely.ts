import type { TransactionClient } from '@longshore/jobs';
import { adapterOf, hasMethods, requireOpen } from './check-transaction.js';

/** The part of a Kysely transaction that enqueueing uses. */
export interface KyselyTransaction {
  readonly isTransaction: boolean;
  withoutPlugins(): { executeQuery(query: never): Promise<{ readonly rows: readonly unknown[] }> };
}

/**
 * Adapts a Kysely transaction, so that jobs can be enqueued in it: `{ transaction: kyselyTransaction(trx) }`. Requires
 * the Postgres dialect.
 *
 * @throws {TypeError} if `trx` is a database instead of a transaction
 */
export function kyselyTransaction(trx: KyselyTransaction): TransactionClient {
  const isOpen = hasMethods(trx, 'withoutPlugins') && trx.isTransaction;
  requireOpen(trx, isOpen, 'Kysely', 'db.transaction().execute(async (trx) => …)');
  const plain = trx.withoutPlugins();
  return adapterOf(trx, () => ({
    query: async (text, values = []) => {
      const node = { kind: 'RawNode', sqlFragments: [text], parameters: [] };
      const query = { sql: text, parameters: values, query: node, queryId: { queryId: 'longshore' } };
      const { rows } = await plain.executeQuery(query as never);
      return { rows: rows as never[] };
    },
  }));
}
