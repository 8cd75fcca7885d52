import type { TransactionClient } from '../storage/transaction.js';

/**
 * Rejects a call in a database transaction, because the memory storage cannot take part in one.
 *
 * @throws {TypeError} if a transaction is given
 */
export function refuseTransaction(transaction: TransactionClient | undefined): void {
  if (transaction !== undefined)
    throw new TypeError('The memory storage cannot take part in a database transaction');
}
