import { isSqlError } from '../errors/incident.js';
import type { Database, Queryable } from './database.js';

/** SQLSTATE of a serialization failure and of a deadlock: the transaction may simply run again. */
const retryable = new Set(['40001', '40P01']);
const attempts = 4;

/**
 * Runs work in a READ COMMITTED transaction: commits what it returns, rolls back what it throws. A transaction that
 * lost against another one runs again, up to four times; so the work must change nothing outside of it.
 */
export async function inTransaction<Result>(
  database: Database,
  work: (transaction: Queryable) => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await once(database, work);
    } catch (error) {
      if (attempt === attempts || !isSqlError(error) || !retryable.has(error.code)) throw error;
    }
  }
}

async function once<Result>(
  database: Database,
  work: (transaction: Queryable) => Promise<Result>,
): Promise<Result> {
  const connection = await database.connect();
  let broken = false;
  try {
    await connection.query('begin isolation level read committed');
    const result = await work(connection);
    // Of a transaction in which a statement failed unheard, Postgres makes a rollback, and calls it a success.
    const { command } = await connection.query('commit');
    if (command === 'ROLLBACK')
      throw new Error('A statement of the transaction had failed: it was rolled back');
    return result;
  } catch (error) {
    await connection.query('rollback').catch(() => {
      broken = true;
    });
    throw error;
  } finally {
    connection.release(broken);
  }
}
