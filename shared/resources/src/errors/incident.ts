import { randomUUID } from 'node:crypto';

/**
 * Who sees the stack trace of an unexpected error: `always` means everyone, `trusted` only callers with the `admin`
 * scope.
 */
export type ErrorStackPolicy = 'always' | 'trusted';

/** An unexpected error with the id under which it is logged. */
export interface Incident {
  readonly id: string;
  /** The stack trace without connection strings. For a Postgres error, values quoted in the message are removed too. */
  readonly stack: string;
}

const connectionString = /\b[a-z][a-z0-9+.-]*:\/\/[^\s/@'"]*:[^\s@'"]*@[^\s'")]*/gi;
const postgresUrl = /\bpostgres(?:ql)?:\/\/[^\s'")]*/gi;

/** Describes an unexpected error and assigns it an id. */
export function newIncident(error: unknown): Incident {
  return { id: randomUUID(), stack: scrub(stackOf(error), sqlMessages(error)) };
}

/**
 * Returns whether the error comes from Postgres. The `code` is then a SQLSTATE of five characters, and the message may
 * quote values.
 */
export function isSqlError(error: unknown): error is Error & { code: string } {
  return (
    error instanceof Error &&
    'code' in error &&
    typeof error.code === 'string' &&
    /^[0-9A-Z]{5}$/.test(error.code) &&
    'severity' in error
  );
}

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return `thrown: ${typeof error}`;
  const stack = error.stack ?? `${error.name}: ${error.message}`;
  return error.cause === undefined ? stack : `${stack}\ncaused by ${stackOf(error.cause)}`;
}

/** Returns the messages of all SQL errors in a chain of causes, which starts with the error itself. */
function sqlMessages(error: unknown): string[] {
  if (!(error instanceof Error)) return [];
  return [...(isSqlError(error) ? [error.message] : []), ...sqlMessages(error.cause)];
}

function scrub(stack: string, quoting: readonly string[]): string {
  const withoutValues = quoting.reduce(
    (text, message) => text.replaceAll(message, () => message.replace(/"[^"]*"|'[^']*'/g, '"…"')),
    stack,
  );
  return withoutValues
    .replace(connectionString, '[connection string]')
    .replace(postgresUrl, '[connection string]');
}
