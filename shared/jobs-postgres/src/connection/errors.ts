import { ReadTimeoutError, StorageUnavailableError } from '@longshore/jobs';
import type pg from 'pg';
import { isSqlState, meaningOf } from './sql-states.js';

/** Thrown if Postgres cannot be reached for a reason that the driver does not know. The message explains it. */
export class UnreachableError extends Error {
  override readonly name: string = 'UnreachableError';
  /** The code of Node.js for a host that cannot be reached. */
  readonly code: string = 'EHOSTUNREACH';
  /** See {@link StorageUnavailableError.summary}. */
  readonly summary: string;

  constructor(message: string, options: ErrorOptions & { readonly summary?: string } = {}) {
    super(message, options);
    this.summary = options.summary ?? 'Postgres cannot be reached';
  }
}

/** The error of connections that a `Watchdog` closes. */
export class UnresponsiveError extends UnreachableError {
  override readonly name = 'UnresponsiveError';
  override readonly code = 'ETIMEDOUT';

  constructor(silentMs: number) {
    const message = `Postgres has not responded for ${Math.round(silentMs)} ms (silenceTimeoutMs): it is down or frozen, or the network loses its packets`;
    super(message, { summary: message });
  }
}

export function codeOf(error: unknown): string {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : '';
}

/**
 * Returns the SQLSTATE of an error, or that of its cause if the error is a {@link StorageUnavailableError}; empty if there
 * is none.
 */
export function sqlStateOf(error: unknown): string {
  const cause: unknown = error instanceof StorageUnavailableError ? error.cause : error;
  const code = codeOf(cause);
  return isSqlState(code) ? code : '';
}

/**
 * Converts an error that says nothing about the data or the statement, but about the state of Postgres or the connection,
 * to a {@link StorageUnavailableError}. Returns any other error unchanged, including all errors that the driver did not
 * report.
 *
 * @param end the error with which Postgres closed the connection, if known; replaces `error` as the cause unless `error`
 *   has a SQLSTATE
 */
export function translate(error: unknown, end?: Error): unknown {
  if (error instanceof StorageUnavailableError) return error; // already converted
  if (!isFromDriver(error) || !(isTransient(error) || isRefused(error) || isNotOpened(error))) return error;
  // The error of a statement says why Postgres ends a connection; the one of the connection then only that it is lost.
  const cause = isSqlState(codeOf(error)) ? error : (end ?? error);
  const code = codeOf(cause);
  const { reason } = meaningOf(code);
  if (reason === '') return unreached(cause, code);
  const message = `${reason} (SQLSTATE ${code})`;
  return new StorageUnavailableError(message, { cause, summary: message });
}

/**
 * Converts the error of a read that exceeded its time limit, or found all connections busy, to a {@link ReadTimeoutError}.
 * Returns any other error unchanged.
 *
 * @param open number of open connections
 */
export function asReadTimeout(
  error: unknown,
  { statementTimeoutMs, poolSize }: { readonly statementTimeoutMs: number; readonly poolSize: number },
  open: number,
): unknown {
  if (!(error instanceof StorageUnavailableError)) return error;
  const { cause } = error;
  const tooSlow = (why: string): ReadTimeoutError => {
    const message = `${why}: ask for less, or try again later`;
    return new ReadTimeoutError(message, { cause, summary: message });
  };
  if (sqlStateOf(error) === '57014') return tooSlow(`The read took longer than ${statementTimeoutMs} ms`);
  const isQueued = codeOf(cause) === '' && open >= poolSize;
  return isQueued ? tooSlow(`All ${poolSize} connections for reads are busy`) : error;
}

/**
 * Returns whether an error was caused by the data, rather than by the state of the database or the connection. The
 * SQLSTATE decides, if there is one. An error without a SQLSTATE counts as caused by the data unless it is transient.
 */
export function isOfData(error: unknown): boolean {
  if (error instanceof StorageUnavailableError || isTransient(error)) return false;
  const code = codeOf(error);
  return isSqlState(code) ? meaningOf(code).kind === 'data' : true;
}

/**
 * Returns the error for a failure that has no known SQLSTATE. The driver reports an exhausted pool and a connection timeout
 * with the same message, so the explanation names both.
 */
function unreached(cause: unknown, code: string): StorageUnavailableError {
  const explain = (message: string, summary = message): StorageUnavailableError =>
    new StorageUnavailableError(message, { cause, summary });
  const unreachable = code === '' ? 'Postgres cannot be reached' : `Postgres cannot be reached (${code})`;
  if (cause instanceof UnreachableError) return explain(cause.message, cause.summary);
  const busy = cause instanceof Error && cause.message.startsWith('timeout exceeded when trying to connect');
  if (busy)
    return explain(
      'No connection became available in time (connectTimeoutMs): all connections of the pool are busy (poolSize), or Postgres does not respond',
    );
  const { hostname, address, port } = cause as { hostname?: string; address?: string; port?: number };
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return explain(
      `Postgres cannot be reached: there is no host "${hostname ?? ''}" (${code}); check the host name in the URL`,
      unreachable,
    );
  if (code === 'ECONNREFUSED')
    return explain(
      `Postgres cannot be reached: nothing accepts connections${address === undefined ? '' : ` at ${address}:${port}`} (${code}); check the host and port in the URL, and that Postgres is running`,
      unreachable,
    );
  return explain(unreachable);
}

/** Returns whether Postgres does not accept the credentials or the database. */
export function isRefused(error: unknown): boolean {
  return meaningOf(codeOf(error)).kind === 'refused';
}

/**
 * Returns whether a statement of the storage names something that does not exist. Ignores partitions (their names end with
 * a day), because they are dropped when their retention ends.
 */
function isNotOpened(error: unknown): boolean {
  return (
    isOfStorage(error) &&
    meaningOf(codeOf(error)).kind === 'missing' &&
    error instanceof Error &&
    !/_\d{8}"/.test(error.message)
  );
}

/** Returns whether an error comes from the network, the driver's timeouts or the state of the server. */
export function isTransient(error: unknown): boolean {
  const code = codeOf(error);
  // Postgres reports a malformed request as 08P01. pgbouncer uses the same code for its own errors, which are all
  // fatal.
  if (code === '08P01') return (error as pg.DatabaseError).severity === 'FATAL';
  if (isSqlState(code)) return meaningOf(code).kind === 'unavailable';
  // Network errors have a code that is not a SQLSTATE. The driver's connection errors and timeouts have no code, so
  // their messages identify them.
  return (
    error instanceof Error &&
    isFromDriver(error) &&
    (code !== '' || /connection|timeout|terminat/i.test(error.message))
  );
}

/** Errors with which calls of the driver were rejected. */
const reported = new WeakSet<object>();

/**
 * Marks the error if a call of the driver is rejected, and returns the call. Errors of an application that runs inside
 * a transaction can have the same messages and codes, but say nothing about Postgres.
 */
export function fromDriver<Call extends PromiseLike<unknown>>(call: Call): Call {
  call.then(undefined, (error: unknown) => {
    if (error instanceof Error) reported.add(error);
  });
  return call;
}

/** Errors of the storage's own statements. */
const ofStorage = new WeakSet<object>();

/** Like {@link fromDriver}, for a statement of the storage, as opposed to one of a handler or another library. */
export function fromStorage<Call extends PromiseLike<unknown>>(call: Call): Call {
  call.then(undefined, (error: unknown) => {
    if (error instanceof Error) ofStorage.add(error);
  });
  return fromDriver(call);
}

/** Returns whether a statement of the storage was rejected with this error, see {@link fromStorage}. */
export function isOfStorage(error: unknown): boolean {
  return error instanceof Error && ofStorage.has(error);
}

/** Returns whether a call of the driver was rejected with this error, see {@link fromDriver}. */
export function isFromDriver(error: unknown): boolean {
  return error instanceof Error && reported.has(error);
}
