import type { TransactionClient } from '@longshore/jobs';
import type { Notification } from '@longshore/jobs/storage';
import pg from 'pg';
import { forceTwoPhaseCommit } from './database.sql.js';
import type { Connection } from './connection.js';
import type { Database } from './database.js';
import { checkTransaction } from '../drivers/check-transaction.js';
import { CallersSession } from './foreign-session.js';
import { storedRow } from './stored-value.js';
import type { Schema } from './schema.js';
import { type Statement, unprepared } from './statement.js';

/** Runs a statement and returns its rows. */
export type Run = (statement: Statement, values: unknown[]) => Promise<readonly unknown[]>;

/** Returns a {@link Run} that runs each statement in its own transaction. */
export function runAlone(database: Database): Run {
  return (statement, values) => database.query(statement, values);
}

/** The work that is under way in each transaction of a caller. */
const turns = new WeakMap<TransactionClient, Promise<unknown>>();

/**
 * Runs `work` once all earlier work in the same transaction has ended. Calls that an application makes at the same time
 * would otherwise interleave on the connection: a rollback to a savepoint would undo what another call has written, and the
 * settings that one restores would be those of another. `work` must not take another turn of this transaction.
 */
export function inTurn<Result>(transaction: TransactionClient, work: () => Promise<Result>): Promise<Result> {
  const result = allTurns(transaction).then(work);
  turns.set(
    transaction,
    result.catch(() => undefined),
  );
  return result;
}

/** Resolves once all work that has been begun in the transaction has ended. */
export async function allTurns(transaction: TransactionClient): Promise<void> {
  await turns.get(transaction);
}

/**
 * Returns a {@link Run} for the caller's transaction. Statements of calls that are made at the same time take turns.
 *
 * @throws {TypeError} if `transaction` is not an open transaction
 */
export function runInCallersTransaction(transaction: TransactionClient, schema: Schema): Run {
  const run = runInThisTurn(transaction, schema);
  return (statement, values) => inTurn(transaction, () => run(statement, values));
}

/** Like {@link runInCallersTransaction}, for work that has a turn of the transaction. */
function runInThisTurn(callersTransaction: TransactionClient, schema: Schema): Run {
  const transaction = checkTransaction(callersTransaction);
  const session = new CallersSession(transaction, schema);
  // On a Citus cluster, the first call requests two-phase commit, so that all nodes commit or none.
  let isPrepared = !schema.isDistributed;
  return async (statement, values) => {
    if (!isPrepared) await transaction.query(schema.statement(forceTwoPhaseCommit).text);
    isPrepared = true;
    // The caller's connection lacks the storage's type parsers, so times are limited to the valid range here.
    const rows = await session.query(schema.statement(statement).text, values.map(portable));
    return rows.map((row) => storedRow(row as object));
  };
}

const { utils } = pg as unknown as { utils: { prepareValue(value: unknown): unknown } };

/**
 * Formats arrays as pg does, because other drivers format them differently. Replaces `undefined` with `null`, because
 * postgres.js rejects `undefined`.
 */
function portable(value: unknown): unknown {
  return Array.isArray(value) ? utils.prepareValue(value) : (value ?? null);
}

/** Returns a {@link Run} for the caller's transaction; without one, each statement runs in a separate transaction. */
export function runOf(database: Database, transaction: TransactionClient | undefined): Run {
  return transaction === undefined
    ? runAlone(database)
    : runInCallersTransaction(transaction, database.schema);
}

/**
 * Calls `write` in a savepoint of the caller's transaction, so that the transaction can continue if `write` throws. `write`
 * must use the given {@link Run} alone, because all other calls in this transaction wait for it.
 */
export async function inSavepoint<Result>(
  transaction: TransactionClient,
  schema: Schema,
  write: (run: Run) => Promise<Result>,
): Promise<Result> {
  const run = runInThisTurn(transaction, schema);
  return inTurn(transaction, async () => {
    await transaction.query('savepoint longshore');
    try {
      const result = await write(run);
      await transaction.query('release savepoint longshore');
      return result;
    } catch (error) {
      // Ignores a failure of the rollback, because the original error is thrown.
      await transaction.query('rollback to savepoint longshore').catch(() => undefined);
      throw error;
    }
  });
}

/** Returns a {@link Run} for an open transaction on one of the storage's connections. */
export function runOnConnection(client: Connection): Run {
  return async (statement, values) => {
    const { rows } = await client.query<Record<string, unknown>>(statement, values);
    return rows;
  };
}

/** Makes Postgres notify servers of what the caller's transaction has done when it commits. */
const notifyOnCommit = unprepared(
  'longshore-notify-on-commit',
  `select longshore.notify_on_commit('kinds')::pg_catalog.text`,
);

/**
 * Calls `act`, which must notify servers. Without a transaction, calls it immediately; otherwise, after the commit. If
 * the client does not report commits, adds notifications to the transaction instead, and Postgres sends them on commit.
 *
 * @param kinds what `act` notifies of
 */
export async function afterCommit(
  transaction: TransactionClient | undefined,
  schema: Schema,
  kinds: readonly Notification['kind'][],
  act: () => void,
): Promise<void> {
  if (transaction === undefined) act();
  else if (transaction.afterCommit !== undefined) transaction.afterCommit(act);
  else if (kinds.length > 0) {
    const { text } = schema.statement(notifyOnCommit);
    await inTurn(transaction, () => transaction.query(text.replace('kinds', [...new Set(kinds)].join(' '))));
  }
}

/**
 * Runs `act` in a new transaction that it can use like one of a caller. What it asks to be called after the commit is called
 * then.
 */
export async function inNewTransaction<Result>(
  database: Database,
  act: (transaction: TransactionClient) => Promise<Result>,
): Promise<Result> {
  const afterwards: (() => void)[] = [];
  const result = await database.transaction((client) => {
    afterwards.length = 0;
    return act({
      query: (text, values) => client.query(text, values),
      afterCommit: (then) => void afterwards.push(then),
    });
  });
  for (const then of afterwards) then();
  return result;
}
