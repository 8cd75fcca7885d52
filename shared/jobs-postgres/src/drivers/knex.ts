import type { TransactionClient } from '@longshore/jobs';
import { adapterOf, hasMethods, requireOpen } from './check-transaction.js';

/** The part of a Knex transaction that enqueueing uses. */
export interface KnexTransaction {
  readonly isTransaction?: boolean;
  isCompleted(): boolean;
  /** Provides the transaction's connection; typed as `any` by Knex. */
  readonly client: { acquireConnection(): Promise<unknown> };
}

/**
 * Adapts a Knex transaction, so that jobs can be enqueued in it: `{ transaction: knexTransaction(trx) }`. Requires the
 * client `pg`. Statements bypass Knex and run on the transaction's connection, because Knex would mistake the question
 * marks in Postgres operators for placeholders.
 *
 * @throws {TypeError} if `trx` is not an open transaction
 */
export function knexTransaction(trx: KnexTransaction): TransactionClient {
  const isOpen =
    hasMethods(trx, 'isCompleted') &&
    trx.isTransaction === true &&
    hasMethods(trx.client, 'acquireConnection') &&
    !trx.isCompleted();
  requireOpen(trx, isOpen, 'Knex', 'knex.transaction(async (trx) => …)');
  return adapterOf(trx, () => ({
    query: async (text, values = []) => {
      const connection = (await trx.client.acquireConnection()) as TransactionClient;
      return connection.query(text, values);
    },
  }));
}
