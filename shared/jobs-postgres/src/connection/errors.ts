import { StorageUnavailableError } from '@longshore/jobs';
import type pg from 'pg';
import { isFromDriver } from './driver-errors.js';
import type { Schema } from './schema.js';

/**
 * SQLSTATEs (classes or full codes) of transient failures: connection errors, insufficient resources, server shutdown,
 * cancelled statement, lock timeout, and the timeouts of idle and long transactions.
 */
const unavailable = [/^08/, /^53/, /^57P/, /^57014$/, /^55P03$/, /^25P0[34]$/];

/**
 * SQLSTATE classes of errors caused by specific data, such as a value that is out of range or violates a constraint.
 * The same statement can succeed with other data.
 */
const ofData = /^(21|22|23|38|39|54|P0|XX)/;

/** Matches SQLSTATEs, but no codes of Node.js such as `EPIPE`. No SQLSTATE begins with E. */
const sqlState = /^(?!E)[0-9A-Z]{5}$/;

export function codeOf(error: unknown): string {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : '';
}

/** Explanations of SQLSTATEs; the first pattern that matches applies. */
const reasons: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [/^57014$/, 'The statement took longer than its time limit'],
  [/^55P03$/, 'Another transaction held a lock for longer than this one may wait'],
  [
    /^25P03$/,
    'Postgres ended the transaction: it was idle between statements for too long (transactionIdleTimeoutMs for handlers, idle_in_transaction_session_timeout for others)',
  ],
  [
    /^25P04$/,
    'Postgres ended the transaction: it took too long (commandBatchMaxTimeoutMs, transaction_timeout)',
  ],
  [/^57P01$/, 'Postgres ended the connection: it is shutting down, or the connection was terminated'],
  [/^57P02$/, 'Postgres ended the connection: another of its processes crashed'],
  [/^57P03$/, 'Postgres accepts no connections: it is starting up, shutting down or recovering'],
  [/^57P05$/, 'Postgres ended the connection: it was idle for too long (idle_session_timeout)'],
  [/^08P01$/, 'The connection pooler ended the connection, or has none to Postgres'],
  [/^53/, 'Postgres has run out of connections, memory or disk space'],
  [
    /^(42P01|3F000)$/,
    'The tables of the job storage do not exist in this database: call open() on the storage first to create them',
  ],
];

/**
 * Converts a transient failure, or an error about missing tables of the job storage, to a {@link
 * StorageUnavailableError}. Returns any other error unchanged, including all errors that the driver did not report.
 *
 * @param end the error with which Postgres closed the connection, if known; replaces `error` as the cause
 */
export function translate(error: unknown, schema: Schema, end?: Error): unknown {
  if (!isFromDriver(error) || !(isNotOpened(error, schema) || isTransient(error))) return error;
  const cause = end ?? error;
  const code = codeOf(cause);
  const known = reasons.find(([pattern]) => pattern.test(code))?.[1];
  const reason = known === undefined ? unreached(cause, code) : `${known} (SQLSTATE ${code})`;
  return new StorageUnavailableError(reason, { cause });
}

/**
 * Returns whether an error was caused by the data, rather than by the state of the database or the connection. The
 * SQLSTATE decides, if there is one. An error without a SQLSTATE counts as caused by the data unless it is transient.
 */
export function isOfData(error: unknown): boolean {
  if (error instanceof StorageUnavailableError || isTransient(error)) return false;
  const code = codeOf(error);
  return sqlState.test(code) ? ofData.test(code) : true;
}

/**
 * Explains a failure that has no known SQLSTATE. The driver reports an exhausted pool and a connection timeout with the
 * same message, so the explanation names both.
 */
function unreached(cause: unknown, code: string): string {
  const busy = cause instanceof Error && cause.message.startsWith('timeout exceeded when trying to connect');
  if (busy)
    return 'No connection became available in time (connectTimeoutMs): all connections of the pool are busy (poolSize), or Postgres does not respond';
  const { hostname, address, port } = cause as { hostname?: string; address?: string; port?: number };
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return `Postgres cannot be reached: there is no host "${hostname ?? ''}" (${code}); check the host name in the URL`;
  if (code === 'ECONNREFUSED')
    return `Postgres cannot be reached: nothing accepts connections${address === undefined ? '' : ` at ${address}:${port}`} (${code}); check the host and port in the URL, and that Postgres is running`;
  return code === '' ? 'Postgres cannot be reached' : `Postgres cannot be reached (${code})`;
}

/** Returns whether an error is a `lock_timeout` (55P03) or was caused by one. */
export function isLockTimeout(error: unknown): boolean {
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  return codeOf(cause ?? error) === '55P03';
}

/**
 * Returns whether an error reports that a relation or schema of the job storage does not exist. Ignores partitions
 * (their names contain digits), because they are dropped when their retention ends.
 */
function isNotOpened(error: unknown, schema: Schema): boolean {
  return (
    /^(42P01|3F000)$/.test(codeOf(error)) &&
    error instanceof Error &&
    new RegExp(`"${schema.name}(\\.[a-z_]+)?"`).test(error.message)
  );
}

/** Returns whether an error comes from the network, the driver's timeouts or the state of the server. */
export function isTransient(error: unknown): boolean {
  const code = codeOf(error);
  // Postgres reports a malformed request as 08P01. pgbouncer uses the same code for its own errors, which are all
  // fatal.
  if (code === '08P01') return (error as pg.DatabaseError).severity === 'FATAL';
  if (sqlState.test(code)) return unavailable.some((pattern) => pattern.test(code));
  // Network errors have a code that is not a SQLSTATE. The driver's connection errors and timeouts have no code, so
  // their messages identify them.
  return (
    error instanceof Error &&
    isFromDriver(error) &&
    (code !== '' || /connection|timeout|terminat/i.test(error.message))
  );
}
