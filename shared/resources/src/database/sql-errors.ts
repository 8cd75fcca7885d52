import { type ApiError, apiError } from '../errors/api-error.js';
import { isSqlError } from '../errors/incident.js';

/** Node's error codes for an unreachable host or socket. */
const networkCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EPIPE',
  'ENOENT',
  'ETIMEDOUT',
]);

/** Matches the messages of connection errors that the driver throws without a code. */
const driverMessages =
  /^(?:Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error)/;

const notMigrated = 'The tables do not exist: the migrations have not run yet, or have not finished';

/**
 * Messages for errors after which the same request may succeed later, by SQLSTATE or class (its first two characters). A
 * SQLSTATE takes precedence over its class.
 */
const unavailable: ReadonlyMap<string, string> = new Map([
  ['08', 'The database is not available'],
  ['25006', 'The database accepts only reads'],
  ['25P03', 'A transaction was idle for too long and was ended'],
  ['25P04', 'A transaction took too long and was ended'],
  ['28', 'The database does not accept the credentials of the service'],
  ['3D', 'The database does not exist'],
  ['3F', notMigrated],
  ['40', 'Too many changes at the same time'],
  ['42P01', notMigrated],
  ['53', 'The database is not available'],
  ['55P03', 'Another change held a lock for too long'],
  ['57', 'The database is not available'],
  ['58', 'The database reports an error of its system'],
  ['72', 'The database is not available'],
  ['F0', 'The database reports an error in its configuration'],
]);

/** What is wrong with a value, by SQLSTATE. */
const misfits: Readonly<Record<string, string>> = {
  '22001': 'A text is too long for its field',
  '22003': 'A number is too large or too small for its field',
  '22007': 'A time does not fit its field',
  '22008': 'A time is too early or too late for its field',
};

const retryAfter = { 'retry-after': '2' };

/**
 * Converts a Postgres error or a connection error to an API error; returns undefined if the error points to a bug. The
 * messages contain no values from statements. The message of a trigger is kept unchanged.
 * @param writes whether the request has a body. If it has, errors about a value refer to the body, and a cancelled
 *   statement becomes 50301. Otherwise, they refer to the query, and a cancelled statement becomes 50304
 */
export function classifySqlError(error: unknown, writes: boolean): ApiError | undefined {
  if (!(error instanceof Error)) return undefined;
  if (!isSqlError(error)) {
    const lost = isNetworkError(error) || driverMessages.test(error.message);
    return lost
      ? apiError(50301, 'The database, or a service that the operation calls, cannot be reached', retryAfter)
      : undefined;
  }
  const { code } = error;
  switch (code) {
    case '23505':
    case '23P01':
      return apiError(40901, `Another item has the same ${fieldsIn(error)}`);
    case '23503':
      return detailOf(error).includes('still referenced')
        ? apiError(40903, `Still referenced by ${tableIn(error)}`)
        : apiError(42202, `${fieldsIn(error)} refers to no existing item`);
    case '23502':
      return apiError(42201, `${camelCase(property(error, 'column'))} is missing`);
    case '23514':
      return apiError(42202, violation(error));
    case '57014':
      return apiError(
        writes ? 50301 : 50304,
        `The statement took too long and was cancelled${writes ? '' : ': request less, or try again later'}`,
        retryAfter,
      );
  }
  const reason = unavailable.get(code) ?? unavailable.get(code.slice(0, 2));
  if (reason !== undefined) return apiError(50301, `${reason} (${code})`, retryAfter);
  if (!code.startsWith('22')) return undefined;
  return apiError(writes ? 42202 : 40003, misfits[code] ?? 'A value does not fit its field');
}

/** Returns whether a connection failed. ENOENT counts only for a socket, because a missing file has the same code. */
function isNetworkError(error: Error): boolean {
  const code = property(error, 'code');
  return networkCodes.has(code) && (code !== 'ENOENT' || property(error, 'syscall') === 'connect');
}

/**
 * Returns a message for a violated check. Names the field if the constraint has the name that Postgres gives to the check
 * of a column, but never the constraint. An error without a constraint comes from a trigger; its message is returned
 * unchanged, because it is written for callers.
 */
function violation(error: Error): string {
  const constraint = property(error, 'constraint');
  if (constraint === '') return error.message;
  const table = property(error, 'table');
  const column = /^(.+)_check\d*$/.exec(constraint.slice(table.length + 1))?.[1];
  return column !== undefined && constraint.startsWith(`${table}_`)
    ? `${camelCase(column)} has a value that is not allowed`
    : 'The item has values that are not allowed together';
}

/**
 * Returns the fields named in a detail as text: `firstName and email` for `Key (first_name, email)=(…) already exists.`
 * Returns `value` if the detail names none.
 */
function fieldsIn(error: Error): string {
  const columns = /^Key \(([^)]*)\)=/.exec(detailOf(error))?.[1] ?? 'value';
  return columns.split(', ').map(camelCase).join(' and ');
}

function tableIn(error: Error): string {
  return /from table "([^"]*)"/.exec(detailOf(error))?.[1] ?? 'another item';
}

function detailOf(error: Error): string {
  return property(error, 'detail');
}

function property(error: Error, name: string): string {
  const value: unknown = Object.entries(error).find(([key]) => key === name)?.[1];
  return typeof value === 'string' ? value : '';
}

function camelCase(column: string): string {
  return column.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
