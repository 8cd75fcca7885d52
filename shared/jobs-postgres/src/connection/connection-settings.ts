import type { ConnectionOptions } from 'node:tls';
import type pg from 'pg';
import { type HostList, hostsOfUrl } from './host-list.js';
import { isDatabaseUrl, requireReadable, urlIn } from './url-file.js';

/** The options of a `pg` client that determine where and how it connects. */
export type ConnectionSettings = Readonly<Pick<pg.ClientConfig, (typeof settingNames)[number]>> & {
  /** The servers to choose from, if the URL names several or says what the server must be like. */
  readonly hosts?: HostList;
  /** The path of the file that contains the URL, if it is in one. Each connection uses its user and password of that time. */
  readonly urlFile?: string;
};

const settingNames = [
  'connectionString',
  'host',
  'port',
  'user',
  'database',
  'password',
  'ssl',
  'sslnegotiation',
  'enableChannelBinding',
  'stream',
  'client_encoding',
  'options',
] as const;

/**
 * Returns the settings for connecting to a URL.
 *
 * @param option name of the option that contains the URL, for error messages
 * @param given the URL of a database, or the `file:` URL of a file that contains it
 * @throws {RangeError} if it is not a Postgres URL, if its file cannot be read, or if both the URL and `ssl` contain TLS
 *   settings. Messages contain no part of the URL, because URLs can include passwords
 */
export function settingsOfUrl(
  option: string,
  given: unknown,
  ssl?: boolean | ConnectionOptions,
): ConnectionSettings {
  const { url, file } = urlIn(option, given);
  if (!isDatabaseUrl(url)) {
    const problem =
      file !== undefined
        ? `names a file that does not contain the URL of a database, ${file}`
        : url === ''
          ? 'is empty'
          : url === undefined
            ? 'is missing'
            : 'is not the URL of a database';
    throw new RangeError(
      `${option} ${problem}: give postgres://user:password@host:port/database, for example from the environment variable DATABASE_URL`,
    );
  }
  // If the URL also contains TLS settings, the driver silently ignores the option `ssl`.
  if (ssl !== undefined && /[?&]ssl/.test(url))
    throw new RangeError(`${option} has its own ssl parameters: remove them, or omit the option ssl`);
  const { url: connectionString, hosts } = hostsOfUrl(option, url);
  requireReadable(option, connectionString);
  return {
    connectionString,
    ...(file !== undefined && { urlFile: file }),
    ...(hosts && { hosts }),
    ...(ssl !== undefined && { ssl }),
  };
}

/** Returns a pool's connection settings, for opening connections outside the pool. */
export function settingsOfPool({ options }: pg.Pool): ConnectionSettings {
  // Read by name instead of spread, because the pool makes the password and the TLS key non-enumerable.
  const settings = Object.fromEntries(
    settingNames.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]])),
  );
  const { ssl } = options;
  return typeof ssl === 'object'
    ? { ...settings, ssl: { ...ssl, ...(ssl.key && { key: ssl.key }) } }
    : settings;
}

/**
 * Checks that `pool` is an open `Pool` of the package pg without `query_timeout`, `binary` and several hosts. Returns the pool.
 *
 * @throws {RangeError} if the pool is not usable
 */
export function checkPool(pool: unknown): pg.Pool {
  if (!isPool(pool)) throw new RangeError('pool must be a Pool of the package pg');
  if (pool.ended || pool.ending) throw new RangeError('pool has been closed');
  const { connectionString } = pool.options;
  if (connectionString !== undefined && hostsOfUrl('pool', connectionString).hosts !== undefined)
    throw new RangeError(
      'pool has several hosts or target_session_attrs in its URL, which the package pg does not support: give the storage the URL instead of a pool',
    );
  const { query_timeout: queryTimeout, binary } = pool.options as pg.PoolConfig & { binary?: boolean };
  if (queryTimeout !== undefined && queryTimeout > 0)
    throw new RangeError(
      'pool has a query_timeout, after which the driver reports a statement as failed although Postgres may still carry it out: use statement_timeout instead',
    );
  if (binary === true)
    throw new RangeError('pool requests results in binary form: leave out its option binary');
  return pool;
}

function isPool(value: unknown): value is pg.Pool {
  return (
    typeof value === 'object' &&
    value !== null &&
    ['connect', 'query', 'on', 'off'].every((name) => typeof Reflect.get(value, name) === 'function') &&
    typeof Reflect.get(value, 'totalCount') === 'number' &&
    typeof Reflect.get(value, 'options') === 'object'
  );
}
