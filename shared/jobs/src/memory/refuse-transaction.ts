import type { TransactionClient } from '../storage/transaction.js';

/**
 * Rejects calls in a database transaction, which the memory storage cannot take part in.
 *
 * @throws {TypeError} if a transaction is given
 */
export function refuseTransaction(transaction: TransactionClient | undefined): void {
  if (transaction !== undefined)
    throw new TypeError('The memory storage cannot take part in a database transaction');
}
