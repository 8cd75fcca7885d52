import { isSqlError } from '../errors/incident.js';
import type { Database, PooledConnection, QueryResult, Transaction } from './database.js';

/** SQLSTATE of a serialization failure and of a deadlock: the transaction may simply run again. */
const retryable = new Set(['40001', '40P01']);
const attempts = 4;

/**
 * Runs work in a READ COMMITTED transaction: commits what it returns, rolls back what it throws. A transaction that
 * lost against another one runs again, up to four times; so the work must change nothing outside of it.
 *
 * @param on where to begin one, or a transaction under way, which the work then becomes a part of
 */
export async function inTransaction<Result>(
  on: Database | Transaction,
  work: (transaction: Transaction) => Promise<Result>,
): Promise<Result> {
  if ('afterCommit' in on) return work(on);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await once(on, work);
    } catch (error) {
      if (attempt === attempts || !isSqlError(error) || !retryable.has(error.code)) throw error;
    }
  }
}

async function once<Result>(
  database: Database,
  work: (transaction: Transaction) => Promise<Result>,
): Promise<Result> {
  const connection = await database.connect();
  const transaction = new OpenTransaction(connection);
  let broken = false;
  let result: Result;
  try {
    await connection.query('begin isolation level read committed');
    result = await work(transaction);
    // Of a transaction in which a statement failed unheard, Postgres makes a rollback, and calls it a success.
    const { command } = await connection.query('commit');
    if (command === 'ROLLBACK')
      throw new Error('A statement of the transaction had failed: it was rolled back');
  } catch (error) {
    await connection.query('rollback').catch(() => {
      broken = true;
    });
    throw error;
  } finally {
    connection.release(broken);
  }
  transaction.committed();
  return result;
}

class OpenTransaction implements Transaction {
  readonly #connection: PooledConnection;
  readonly #afterCommit: (() => void)[] = [];

  constructor(connection: PooledConnection) {
    this.#connection = connection;
  }

  query<Row extends object = Readonly<Record<string, unknown>>>(
    text: string,
    values?: unknown[],
  ): Promise<QueryResult<Row>> {
    return this.#connection.query<Row>(text, values);
  }

  afterCommit(act: () => void): void {
    this.#afterCommit.push(act);
  }

  /** The work is durable by now: nothing that fails here may make it look as if it had failed. */
  committed(): void {
    for (const act of this.#afterCommit) {
      try {
        act();
      } catch {
        // What follows a commit is a hint to others at most.
      }
    }
  }
}
