/**
 * What an SQLSTATE means for the storage:
 *
 * - `unavailable`: the server, the connection or another transaction is in the way; a later call may succeed
 * - `refused`: the server does not accept the user, the password or the database of the URL
 * - `conflict`: the transaction has had no effect and can be repeated at once
 * - `missing`: a table, function, type or column does not exist; for a statement of the storage, the migrations have not
 *   run yet, or have not finished
 * - `data`: caused by specific data, such as a value that is out of range or violates a constraint; the same statement can
 *   succeed with other data
 * - `mistake`: anything else; the statement, a privilege or the order of statements is wrong
 */
export type SqlStateKind = 'unavailable' | 'refused' | 'conflict' | 'missing' | 'data' | 'mistake';

interface Meaning {
  readonly kind: SqlStateKind;
  /** Explains an error that is reported as a `StorageUnavailableError`. */
  readonly reason: string;
}

const means = (kind: SqlStateKind, reason = ''): Meaning => ({ kind, reason });

const notOpened =
  'The tables of the job storage do not exist in this database, or are those of an older version: call open() on the storage first to create or update them, or wait until the process that does so has finished';

const readOnly =
  'Postgres accepts only reads: the server is a standby, or its sessions are read-only (default_transaction_read_only)';

/** The prepared statement of this connection no longer exists, for example after the application's `discard all`. */
export const discarded = '26000';

/** The server or the session accepts only reads. */
export const readOnlyState = '25006';

/**
 * The meaning of SQLSTATEs (https://www.postgresql.org/docs/current/errcodes-appendix.html). A class has two characters;
 * a code has five and takes precedence over its class. Everything that is not listed is a mistake.
 */
const meanings: Readonly<Record<string, Meaning>> = {
  '08': means('unavailable', 'The connection to Postgres was lost, or could not be made'),
  '08P01': means('unavailable', 'The connection pooler ended the connection, or has none to Postgres'),
  '09': means('data'),
  '20': means('data'),
  '21': means('data'),
  '22': means('data'),
  '23': means('data'),
  [readOnlyState]: means('unavailable', readOnly),
  '25P03': means(
    'unavailable',
    'Postgres ended the transaction: it was idle between statements for too long (transactionIdleTimeoutMs for handlers, idle_in_transaction_session_timeout for others)',
  ),
  '25P04': means(
    'unavailable',
    'Postgres ended the transaction: it took too long (commandBatchMaxTimeoutMs, transaction_timeout)',
  ),
  [discarded]: means('conflict'),
  '27': means('data'),
  '28': means('refused', 'Postgres does not accept the user or the password: check the URL and pg_hba.conf'),
  '38': means('data'),
  '39': means('data'),
  '3D': means('refused', 'Postgres has no such database: check its name in the URL'),
  '3F': means('missing', notOpened),
  '40': means('conflict'),
  '40002': means('data'),
  '40003': means('unavailable', 'Postgres does not know whether the statement was carried out'),
  '42703': means('missing', notOpened),
  '42704': means('missing', notOpened),
  '42883': means('missing', notOpened),
  '42P01': means('missing', notOpened),
  '44': means('data'),
  '53': means('unavailable', 'Postgres has run out of connections, memory or disk space'),
  '54': means('data'),
  '55P03': means('unavailable', 'Another transaction held a lock for longer than this one may wait'),
  '57': means('unavailable', 'An operator or the server ended the statement'),
  '57014': means('unavailable', 'The statement took longer than its time limit'),
  '57P01': means(
    'unavailable',
    'Postgres ended the connection: it is shutting down, or the connection was terminated',
  ),
  '57P02': means('unavailable', 'Postgres ended the connection: another of its processes crashed'),
  '57P03': means(
    'unavailable',
    'Postgres accepts no connections: it is starting up, shutting down or recovering',
  ),
  '57P04': means('unavailable', 'Postgres ended the connection: the database was dropped'),
  '57P05': means(
    'unavailable',
    'Postgres ended the connection: it was idle for too long (idle_session_timeout)',
  ),
  '58': means('unavailable', 'Postgres reports an error of its file system or operating system'),
  '72': means('unavailable', 'The snapshot of the transaction was too old (old_snapshot_threshold)'),
  F0: means('unavailable', 'Postgres reports an error in its configuration files'),
  P0: means('data'),
  XX: means('data'),
};

const mistake = means('mistake');

/** Returns whether a code is an SQLSTATE, and not a code of Node.js such as `EPIPE`. No SQLSTATE begins with E. */
export function isSqlState(code: string): boolean {
  return /^(?!E)[0-9A-Z]{5}$/.test(code);
}

/** Returns what an SQLSTATE means for the storage; a mistake for any other code. */
export function meaningOf(sqlState: string): Meaning {
  if (!isSqlState(sqlState)) return mistake;
  return meanings[sqlState] ?? meanings[sqlState.slice(0, 2)] ?? mistake;
}

/**
 * Returns whether a connection is of no further use after an error, although it still works: its prepared statements are
 * gone, or it leads to a server that accepts only reads.
 */
export function spoilsConnection(sqlState: string): boolean {
  return sqlState === discarded || sqlState === readOnlyState;
}
