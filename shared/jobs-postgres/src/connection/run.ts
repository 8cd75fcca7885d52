import type { TransactionClient } from '@longshore/jobs';
import type pg from 'pg';
import type { Database } from './database.js';
import { storedRow } from './stored-value.js';
import type { Statement } from './statement.js';

/** Runs a statement and gives its rows. */
export type Run = (statement: Statement, values: unknown[]) => Promise<readonly unknown[]>;

/** Each statement a transaction of its own. */
export function runAlone(database: Database): Run {
  return (statement, values) => database.query(statement, values);
}

/** In a transaction of the caller's. */
export function runWithin(transaction: TransactionClient): Run {
  return async (statement, values) =>
    // The caller's connection parses values its own way.
    (await transaction.query(statement.text, values)).rows.map((row) => storedRow(row as object));
}

/** In the caller's transaction, if there is one. */
export function runOf(database: Database, transaction: TransactionClient | undefined): Run {
  return transaction === undefined ? runAlone(database) : runWithin(transaction);
}

/** All that it writes or, if it throws, nothing: the caller's transaction can go on. */
export async function atOnce<Result>(
  transaction: TransactionClient,
  write: (run: Run) => Promise<Result>,
): Promise<Result> {
  await transaction.query('savepoint longshore');
  try {
    const result = await write(runWithin(transaction));
    await transaction.query('release savepoint longshore');
    return result;
  } catch (error) {
    await transaction.query('rollback to savepoint longshore').catch(() => undefined); // what went wrong first is what counts
    throw error;
  }
}

/** In a transaction of the storage's. */
export function runOn(client: pg.ClientBase): Run {
  return async (statement, values) => {
    const { rows } = await client.query<Record<string, unknown>>({ ...statement, values });
    return rows;
  };
}

/** Acts now or, if what it is about was written in a transaction of the caller's, once that has committed. */
export function onceCommitted(transaction: TransactionClient | undefined, act: () => void): void {
  if (transaction === undefined) act();
  else transaction.afterCommit?.(act);
}
