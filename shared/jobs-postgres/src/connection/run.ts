import type { TransactionClient } from '@longshore/jobs';
import pg from 'pg';
import type { Database } from './database.js';
import { checkTransaction, rowsOf } from '../drivers/check-transaction.js';
import { storedRow } from './stored-value.js';
import type { Statement } from './statement.js';

/** Runs a statement and returns its rows. */
export type Run = (statement: Statement, values: unknown[]) => Promise<readonly unknown[]>;

/** Runs each statement in a transaction of its own. */
export function runAlone(database: Database): Run {
  return (statement, values) => database.query(statement, values);
}

/** Runs statements in the caller's transaction. */
export function runWithin(given: TransactionClient): Run {
  const transaction = checkTransaction(given);
  return async (statement, values) =>
    // The caller's connection has its own type parsers.
    rowsOf(await transaction.query(statement.text, values.map(portable))).map((row) =>
      storedRow(row as object),
    );
}

const { utils } = pg as unknown as { utils: { prepareValue(value: unknown): unknown } };

/** Formats arrays as pg does, because drivers disagree about them. */
function portable(value: unknown): unknown {
  return Array.isArray(value) ? utils.prepareValue(value) : value;
}

/** Runs statements in the caller's transaction or, if there is none, each in a transaction of its own. */
export function runOf(database: Database, transaction: TransactionClient | undefined): Run {
  return transaction === undefined ? runAlone(database) : runWithin(transaction);
}

/** Writes in a savepoint of the caller's transaction, so that the transaction can continue if this throws. */
export async function atOnce<Result>(
  transaction: TransactionClient,
  write: (run: Run) => Promise<Result>,
): Promise<Result> {
  checkTransaction(transaction);
  await transaction.query('savepoint longshore');
  try {
    const result = await write(runWithin(transaction));
    await transaction.query('release savepoint longshore');
    return result;
  } catch (error) {
    await transaction.query('rollback to savepoint longshore').catch(() => undefined); // the original error matters
    throw error;
  }
}

/** Runs statements on one of the storage's own connections, within the transaction that is open there. */
export function runOn(client: pg.ClientBase): Run {
  return async (statement, values) => {
    const { rows } = await client.query<Record<string, unknown>>({ ...statement, values });
    return rows;
  };
}

/** Notifies servers of the caller's writes when its transaction commits. */
const notifyOnCommit = 'select longshore.notify_on_commit()';

/**
 * Calls `act`, which notifies servers: at once or, in a caller's transaction, after the commit. For a client that does not
 * know when it commits, such as a plain `pg` client, Postgres notifies servers instead.
 */
export async function onceCommitted(
  transaction: TransactionClient | undefined,
  act: () => void,
): Promise<void> {
  if (transaction === undefined) act();
  else if (transaction.afterCommit !== undefined) transaction.afterCommit(act);
  else await transaction.query(notifyOnCommit);
}
