import type { TransactionClient } from '../storage/transaction.js';

/** @throws {TypeError} for any transaction */
export function refuseTransaction(transaction: TransactionClient | undefined): void {
  if (transaction !== undefined)
    throw new TypeError('Jobs in memory cannot take part in a database transaction');
}
