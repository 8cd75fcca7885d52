import type { TransactionClient } from '@longshore/jobs';

const howTo =
  'give a pg client on which a transaction has begun, or that of another library: drizzleTransaction(tx), kyselyTransaction(trx), knexTransaction(trx), prismaTransaction(tx), typeormTransaction(manager), postgresJsTransaction(sql)';

/**
 * Rejects objects that look like a transaction but would not enqueue in one.
 *
 * @throws {TypeError} that names what to pass instead
 */
export function checkTransaction(transaction: TransactionClient): TransactionClient {
  if (typeof (transaction as Partial<TransactionClient> | null)?.query !== 'function')
    throw new TypeError(`transaction cannot run statements: ${howTo}`);
  if ('totalCount' in transaction)
    throw new TypeError(
      'transaction is a pg.Pool, which runs each statement on any of its connections: take a client with pool.connect(), begin a transaction on it, and give that client',
    );
  // Absent in older versions of pg.
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
