import { StorageUnavailableError } from '@longshore/jobs';

/** SQLSTATEs (classes, or whole codes) that say: not now. See the appendix “PostgreSQL Error Codes”. */
const unavailable = [/^08/, /^53/, /^57P/, /^57014$/, /^55P03$/, /^25P0[34]$/];

/**
 * Classes of SQLSTATEs that a value leads to: it is out of range, no JSON, refused by a constraint or by a trigger, too large,
 * or its page cannot be read. The same statement without it may succeed.
 */
const ofData = /^(21|22|23|38|39|54|P0|XX)/;

export function codeOf(error: unknown): string {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : '';
}

/** What it means, by the first pattern that its SQLSTATE matches. */
const reasons: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [/^57014$/, 'Postgres was still at it when the time for the statement was up'],
  [/^55P03$/, 'Another transaction held a lock for longer than this one was to wait for it'],
  [
    /^25P03$/,
    'Postgres ended the transaction: it waited for its next statement for longer than it may (transactionIdleTimeoutMs for handlers, idle_in_transaction_session_timeout for others)',
  ],
  [
    /^25P04$/,
    'Postgres ended the transaction: it took longer than it may (commandBatchMaxTimeoutMs, transaction_timeout)',
  ],
  [/^57P01$/, 'Postgres ended the connection: it shuts down, or somebody has ended it'],
  [/^57P02$/, 'Postgres ended the connection: another of its processes crashed'],
  [/^57P03$/, 'Postgres takes no connections now: it starts up, shuts down or recovers'],
  [/^57P05$/, 'Postgres ended the connection: it was idle for longer than it may (idle_session_timeout)'],
  [/^53/, 'Postgres has run out of connections, memory or disk space'],
];

/**
 * The error as the storage contract names it.
 *
 * @param end what Postgres said when it ended the connection, if it did: the driver's own error says only that it is gone
 */
export function translate(error: unknown, end?: Error): unknown {
  if (error instanceof StorageUnavailableError || !isUnavailable(error)) return error;
  const cause = end ?? error;
  const code = codeOf(cause);
  const known = reasons.find(([pattern]) => pattern.test(code))?.[1];
  const reason = known === undefined ? unreached(cause) : `${known} (SQLSTATE ${code})`;
  return new StorageUnavailableError(reason, { cause });
}

/**
 * Whether an error comes from what was to be written or read, not from the state of the database or of the connection: one of
 * the data by its SQLSTATE, or one of this process's own code.
 */
export function isOfData(error: unknown): boolean {
  if (error instanceof StorageUnavailableError || isUnavailable(error)) return false;
  const code = codeOf(error);
  return /^[0-9A-Z]{5}$/.test(code) ? ofData.test(code) : true;
}

/** The driver gives up a wait for a free connection and one for a new connection with the same words. */
function unreached(cause: unknown): string {
  const busy = cause instanceof Error && cause.message.startsWith('timeout exceeded when trying to connect');
  return busy
    ? 'No connection was to be had within 5 s: all of the pool are busy (poolSize), or Postgres does not answer'
    : 'Postgres cannot be reached';
}

/** Whether a lock was not to be had in the time that a transaction wanted to wait for it (`lock_timeout`). */
export function isLockTimeout(error: unknown): boolean {
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  return codeOf(cause ?? error) === '55P03';
}

function isUnavailable(error: unknown): boolean {
  const code = codeOf(error);
  if (/^[0-9A-Z]{5}$/.test(code)) return unavailable.some((pattern) => pattern.test(code));
  // What has no SQLSTATE comes from the network or from the driver's own timeouts.
  return error instanceof Error && (code !== '' || /connection|timeout|terminat/i.test(error.message));
}
