import type { TransactionClient } from '@longshore/jobs';
import { shown } from '@longshore/jobs/storage';

const howTo =
  'pass a pg client on which a transaction has begun, or an adapter for another library: drizzleTransaction(tx), kyselyTransaction(trx), knexTransaction(trx), prismaTransaction(tx), typeormTransaction(manager), postgresJsTransaction(sql)';

/**
 * Checks a transaction that a caller passed, and returns it. Rejects objects that look like a transaction but would run
 * statements outside of one.
 *
 * @throws {TypeError} if the object is rejected; the message names what to pass instead
 */
export function checkTransaction(transaction: TransactionClient): TransactionClient {
  if (typeof (transaction as Partial<TransactionClient> | null)?.query !== 'function')
    throw new TypeError(`transaction is ${shown(transaction)} that cannot run statements: ${howTo}`);
  if ('totalCount' in transaction)
    throw new TypeError(
      'transaction is a pg.Pool, which runs each statement on any of its connections: take a client with pool.connect(), begin a transaction on it, and pass that client',
    );
  // Older versions of pg do not have this method.
  const { getTransactionStatus: status } = transaction as { getTransactionStatus?: () => string | null };
  if (status?.call(transaction) === 'I')
    throw new TypeError(
      "transaction is a client without an open transaction, so the job would be enqueued immediately: run await client.query('begin') first, or omit the option",
    );
  return transaction;
}

/** Returns whether an object has these methods. */
export function hasMethods(value: unknown, ...names: readonly string[]): boolean {
  return (
    ((typeof value === 'object' && value !== null) || typeof value === 'function') &&
    names.every((name) => typeof Reflect.get(value, name) === 'function')
  );
}

/**
 * Rejects a value that is not an open transaction of a database library.
 *
 * @param isOpen whether the value is an open transaction
 * @param example code that provides a transaction of this library, for the error message
 * @throws {TypeError} if `isOpen` is `false`
 */
export function requireOpen(value: unknown, isOpen: boolean, library: string, example: string): void {
  if (isOpen) return;
  const got = hasMethods(value) ? `This ${library} object` : `A value such as ${shown(value)}`;
  throw new TypeError(`${got} is not an open transaction: pass the one from ${example}`);
}

const adapters = new WeakMap<object, TransactionClient>();

/**
 * Returns the adapter of a library's transaction: the same one each time, because calls in one transaction take turns.
 *
 * @param create makes the adapter when the transaction is first passed
 */
export function adapterOf(transaction: object, create: () => TransactionClient): TransactionClient {
  const adapter = adapters.get(transaction) ?? create();
  adapters.set(transaction, adapter);
  return adapter;
}

/**
 * Returns the rows of a statement's result.
 *
 * @throws {TypeError} if the result has no `rows` array
 */
export function rowsOf(result: unknown): readonly unknown[] {
  const rows: unknown = (result as { rows?: unknown } | null)?.rows;
  if (Array.isArray(rows)) return rows;
  throw new TypeError(`The query function of the transaction must resolve to { rows }: ${howTo}`);
}
