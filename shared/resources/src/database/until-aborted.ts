import type { Database, PooledConnection } from './database.js';

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
