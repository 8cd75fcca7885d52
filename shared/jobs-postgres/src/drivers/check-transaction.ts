import type { TransactionClient } from '@longshore/jobs';

const howTo =
  'give a pg client on which a transaction has begun, or that of another library: drizzleTransaction(tx), kyselyTransaction(trx), knexTransaction(trx), prismaTransaction(tx), typeormTransaction(manager), postgresJsTransaction(sql)';

/**
 * Rejects what would not enqueue within a transaction, although it looks as if it did.
 *
 * @throws {TypeError} with what to give instead
 */
export function checkTransaction(transaction: TransactionClient): TransactionClient {
  if (typeof (transaction as Partial<TransactionClient> | null)?.query !== 'function')
    throw new TypeError(`transaction cannot run statements: ${howTo}`);
  if ('totalCount' in transaction)
    throw new TypeError(
      'transaction is a pg.Pool, which runs each statement on any of its connections: take a client with pool.connect(), begin a transaction on it, and give that client',
    );
  // Older versions of pg do not know the status.
  const { getTransactionStatus: status } = transaction as { getTransactionStatus?: () => string | null };
  if (status?.call(transaction) === 'I')
    throw new TypeError(
      "transaction is a client without an open transaction, so the job would exist at once: await client.query('begin') first, or leave the option out",
    );
  return transaction;
}

/** @throws {TypeError} unless a library's object is a transaction */
export function requireOpen(isOpen: boolean, library: string, example: string): void {
  if (!isOpen)
    throw new TypeError(`This object of ${library} is not an open transaction: use the one in ${example}`);
}

/** @throws {TypeError} unless the result of a statement has rows */
export function rowsOf(result: unknown): readonly unknown[] {
  const rows: unknown = (result as { rows?: unknown } | null)?.rows;
  if (Array.isArray(rows)) return rows;
  throw new TypeError(`query of the transaction must resolve to { rows }: ${howTo}`);
}
