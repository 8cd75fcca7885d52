import { isSqlError } from '../errors/incident.js';

/** Runs SQL statements. A pool and a client of `pg` both satisfy this interface. */
export interface Queryable {
  query<Row extends object = Readonly<Record<string, unknown>>>(
    text: string,
    values?: unknown[],
  ): Promise<QueryResult<Row>>;
}

export interface QueryResult<Row extends object> {
  readonly rows: readonly Row[];
  /** The number of rows read or changed; `null` if the driver reports none for the command. */
  readonly rowCount: number | null;
  /** The command that was executed, such as `COMMIT`. */
  readonly command?: string;
}

export interface PooledConnection extends Queryable {
  /** Returns the connection to its pool. If `broken` is `true` or an error, closes the connection instead. */
  release(broken?: Error | boolean): void;
}

/** A pool of connections, such as `pg.Pool`. */
export interface Database extends Queryable {
  connect(): Promise<PooledConnection>;
}

export interface Transaction extends Queryable {
  /** Calls `act` once the transaction has been committed; never after a rollback. Ignores errors that `act` throws. */
  afterCommit(act: () => void): void;
}

/** SQLSTATEs of a serialization failure and of a deadlock. After either, the transaction can run again. */
const retryable = new Set(['40001', '40P01']);
const attempts = 4;

/**
 * Runs work in a READ COMMITTED transaction. Rolls back if the work throws. After a serialization failure or a
 * deadlock, the work runs again, up to four times in total. The work must therefore have no side effects outside the
 * transaction.
 *
 * @param on the database in which to begin a transaction, or an open transaction to use. An open transaction is neither
 *   committed nor rolled back here, and the work runs only once
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
    // If the work ignored the error of a statement, Postgres answers the commit with a rollback and reports no error.
    const { command } = await connection.query('commit');
    if (command === 'ROLLBACK')
      throw new Error('A statement of the transaction had failed, so it was rolled back');
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

  /** Runs the actions registered with `afterCommit`. Ignores errors that they throw. */
  committed(): void {
    for (const act of this.#afterCommit) {
      try {
        act();
      } catch {
        // An error must not make the call fail, because the transaction is already committed.
      }
    }
  }
}

/**
 * Returns the database with connections that are closed when the signal aborts, even during a statement; calls then reject
 * with the signal's reason. Postgres goes on with the statement unless it looks for its client
 * (`client_connection_check_interval`).
 */
export function untilAborted(database: Database, signal: AbortSignal): Database {
  const connect = async (): Promise<PooledConnection> => {
    signal.throwIfAborted();
    const connection = await database.connect();
    if (signal.aborted) connection.release();
    signal.throwIfAborted();
    return closedOnAbort(connection, signal);
  };
  return {
    connect,
    query: async (text, values) => {
      const connection = await connect();
      try {
        const result = await connection.query<never>(text, values);
        connection.release();
        return result;
      } catch (error) {
        connection.release(true);
        throw error;
      }
    },
  };
}

function closedOnAbort(connection: PooledConnection, signal: AbortSignal): PooledConnection {
  let isBorrowed = true;
  const release = (broken?: Error | boolean): void => {
    if (isBorrowed) connection.release(broken);
    isBorrowed = false;
    signal.removeEventListener('abort', close);
  };
  const close = (): void => release(true);
  signal.addEventListener('abort', close, { once: true });
  return {
    query: async (text, values) => {
      try {
        return await connection.query<never>(text, values);
      } catch (error) {
        throw signal.aborted ? signal.reason : error;
      }
    },
    release,
  };
}
