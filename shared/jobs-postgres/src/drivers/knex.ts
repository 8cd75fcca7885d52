import type { TransactionClient } from '@longshore/jobs';
import { requireOpen } from './check-transaction.js';

/** The part of a Knex transaction that enqueueing needs. */
export interface KnexTransaction {
  readonly isTransaction?: boolean;
  isCompleted(): boolean;
  /** Knex's `any`. */
  readonly client: { acquireConnection(): Promise<unknown> };
}

/**
 * Enqueues in a transaction of Knex, with the client `pg`: `{ transaction: knexTransaction(trx) }`. Statements run on the
 * transaction's own connection, because Knex would take the question marks of Postgres's operators for placeholders.
 *
 * @throws {TypeError} if it is not a transaction, or one that has ended
 */
export function knexTransaction(trx: KnexTransaction): TransactionClient {
  requireOpen(trx.isTransaction === true && !trx.isCompleted(), 'Knex', 'knex.transaction(async (trx) => …)');
  return {
    query: async (text, values = []) => {
      const connection = (await trx.client.acquireConnection()) as TransactionClient;
      return connection.query(text, values);
    },
  };
}
