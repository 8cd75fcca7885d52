import type { TransactionClient } from '@longshore/jobs';
import pg from 'pg';
import { writeTogether } from '../citus/two-phase-commit.sql.js';
import type { Connection } from './connection.js';
import type { Database } from './database.js';
import { checkTransaction, rowsOf } from '../drivers/check-transaction.js';
import { storedRow } from './stored-value.js';
import type { Schema } from './schema.js';
import { type Statement, unprepared } from './statement.js';

/** Runs a statement and returns its rows. */
export type Run = (statement: Statement, values: unknown[]) => Promise<readonly unknown[]>;

/** Runs each statement in a transaction of its own. */
export function runAlone(database: Database): Run {
  return (statement, values) => database.query(statement, values);
}

/** Runs statements in the caller's transaction. */
export function runWithin(given: TransactionClient, schema: Schema): Run {
  const transaction = checkTransaction(given);
  // On several nodes, the caller's rows and ours must be committed together.
  let isPrepared = !schema.isDistributed;
  return async (statement, values) => {
    if (!isPrepared) await transaction.query(schema.statement(writeTogether).text);
    isPrepared = true;
    // The caller's connection has its own type parsers.
    return rowsOf(await transaction.query(schema.statement(statement).text, values.map(portable))).map(
      (row) => storedRow(row as object),
    );
  };
}

const { utils } = pg as unknown as { utils: { prepareValue(value: unknown): unknown } };

/** Formats arrays as pg does, because drivers disagree about them, and replaces `undefined`, which postgres.js rejects. */
function portable(value: unknown): unknown {
  return Array.isArray(value) ? utils.prepareValue(value) : (value ?? null);
}

/** Runs statements in the caller's transaction or, if there is none, each in a transaction of its own. */
export function runOf(database: Database, transaction: TransactionClient | undefined): Run {
  return transaction === undefined ? runAlone(database) : runWithin(transaction, database.schema);
}

/** Writes in a savepoint of the caller's transaction, so that the transaction can continue if this throws. */
export async function inSavepoint<Result>(
  transaction: TransactionClient,
  schema: Schema,
  write: (run: Run) => Promise<Result>,
): Promise<Result> {
  checkTransaction(transaction);
  await transaction.query('savepoint longshore');
  try {
    const result = await write(runWithin(transaction, schema));
    await transaction.query('release savepoint longshore');
    return result;
  } catch (error) {
    await transaction.query('rollback to savepoint longshore').catch(() => undefined); // the original error matters
    throw error;
  }
}

/** Runs statements on one of the storage's own connections, within the transaction that is open there. */
export function runOn(client: Connection): Run {
  return async (statement, values) => {
    const { rows } = await client.query<Record<string, unknown>>(statement, values);
    return rows;
  };
}

/** Notifies servers of the caller's writes when its transaction commits. */
const notifyOnCommit = unprepared('longshore-notify-on-commit', 'select longshore.notify_on_commit()::text');

/**
 * Calls `act`, which notifies servers: at once or, in a caller's transaction, after the commit. For a client that does not
 * know when it commits, such as a plain `pg` client, Postgres notifies servers instead.
 */
export async function onceCommitted(
  transaction: TransactionClient | undefined,
  schema: Schema,
  act: () => void,
): Promise<void> {
  if (transaction === undefined) act();
  else if (transaction.afterCommit !== undefined) transaction.afterCommit(act);
  else await transaction.query(schema.statement(notifyOnCommit).text);
}
