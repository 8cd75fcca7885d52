import type { TransactionClient } from '../storage/transaction.js';

/**
 * Rejects calls that pass a database transaction.
 *
 * @throws {TypeError} if `transaction` is not `undefined`
 */
export function refuseTransaction(transaction: TransactionClient | undefined): void {
  if (transaction !== undefined)
    throw new TypeError('The memory storage cannot take part in a database transaction');
}
