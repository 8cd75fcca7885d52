import type { TransactionClient } from '@longshore/jobs';

const howTo =
  'pass a pg client on which a transaction has begun, or an adapter for another library: drizzleTransaction(tx), kyselyTransaction(trx), knexTransaction(trx), prismaTransaction(tx), typeormTransaction(manager), postgresJsTransaction(sql)';

/**
 * Returns the given transaction. Rejects objects that look like a transaction but would not enqueue in one.
 *
 * @throws {TypeError} that names what to pass instead
 */
export function checkTransaction(transaction: TransactionClient): TransactionClient {
  if (typeof (transaction as Partial<TransactionClient> | null)?.query !== 'function')
    throw new TypeError(`transaction cannot run statements: ${howTo}`);
  if ('totalCount' in transaction)
    throw new TypeError(
      'transaction is a pg.Pool, which runs each statement on any of its connections: take a client with pool.connect(), begin a transaction on it, and pass that client',
    );
  // Absent in older versions of pg.
  const { getTransactionStatus: status } = transaction as { getTransactionStatus?: () => string | null };
  if (status?.call(transaction) === 'I')
    throw new TypeError(
      "transaction is a client without an open transaction, so the job would be enqueued immediately: run await client.query('begin') first, or omit the option",
    );
  return transaction;
}

/**
 * Checks that an object of a library is an open transaction.
 *
 * @throws {TypeError} if it is not, with an example of how to get one
 */
export function requireOpen(isOpen: boolean, library: string, example: string): void {
  if (!isOpen)
    throw new TypeError(`This ${library} object is not an open transaction: pass the one from ${example}`);
}

/**
 * Returns the rows of a statement's result.
 *
 * @throws {TypeError} if it has none
 */
export function rowsOf(result: unknown): readonly unknown[] {
  const rows: unknown = (result as { rows?: unknown } | null)?.rows;
  if (Array.isArray(rows)) return rows;
  throw new TypeError(`The query function of the transaction must resolve to { rows }: ${howTo}`);
}
