import type { ConnectionOptions } from 'node:tls';
import {
  type Check,
  checkInteger,
  checkOptions,
  consoleLogger,
  isBoolean,
  isLogger,
  isOneOf,
  isText,
  type OptionNames,
  type RetentionDays,
  shown,
} from '@longshore/jobs/storage';
import type { Logger } from '@longshore/jobs';
import type pg from 'pg';
import { checkPool, type ConnectionSettings, settingsOfPool, settingsOfUrl } from './connection-settings.js';
import type { DatabaseOptions, Pooler } from './database-options.js';
import type { MigrationMode, MigrationPolicy } from './migrate.js';
import type { Distribution } from './statement.js';
import { defaultSchema } from './schema.js';

/** Options of the Postgres storage. Exactly one of `url` and `pool` is required; all other options are optional. */
export interface PostgresOptions {
  /**
   * URL of the database: `postgres://user:password@host:port/database`. The database must exist; `open` creates
   * everything in it. Required unless there is a `pool`.
   *
   * Can be the `file:` URL of a file that contains it, like `directUrl` and `searchUrl`. The file is read again for each
   * connection, which uses the user and the password that are in it then. Other changes need a new storage.
   */
  url?: string;
  /**
   * An existing pool of the application, instead of `url`, `ssl` and `poolSize`. The storage uses the pool for writes
   * and servers, and never closes it. All other connections (see `poolSize`) are opened separately, with the settings
   * of the pool. Each transaction on the pool also sends the session settings of the storage. If the pool's settings
   * contain a function, such as a `password` function, heartbeats are sent from the main thread instead of a separate
   * one. A pool with `query_timeout`, `binary` or native bindings is rejected.
   */
  pool?: pg.Pool;
  /**
   * TLS settings for all URLs, in the form that `pg` accepts. By default, the parameters of the URL apply
   * (`?sslmode=verify-full&sslrootcert=…`). A URL with such parameters is rejected if this option is set.
   */
  ssl?: boolean | ConnectionOptions;
  /**
   * Schema of the tables: at most 59 lowercase letters, digits and underscores, not beginning with a digit or `pg_`, and not `information_schema`;
   * `longshore` by default. Job stores in different schemas of one database are independent: they share no jobs,
   * servers or notifications.
   */
  schema?: string;
  /**
   * Maximum number of connections for writes and servers; 1 to 500, 10 by default. The storage opens further
   * connections:
   * - `readPoolSize` for reads
   * - two for searches, and two more if there is a `searchUrl`
   * - two for the event feed
   * - four for looking up queues and single jobs
   * - one for building indexes
   * - one for notifications
   * - one for the heartbeats of all servers of this process
   */
  poolSize?: number;
  /**
   * Maximum number of connections for reads; 1 to 500, 4 by default. These connections are opened on demand and are
   * separate from the connections for writes.
   */
  readPoolSize?: number;
  /**
   * Maximum duration of a read, in milliseconds; 1 to 3,600,000, 5000 by default. A longer read fails with a
   * `ReadTimeoutError`. Waiting for a connection takes at most another `connectTimeoutMs`.
   */
  readTimeoutMs?: number;
  /**
   * Maximum time to wait for a connection, in milliseconds; 100 to 3,600,000, 5000 by default. This covers both opening
   * a connection and waiting for a busy one of the pool. After this time, calls fail with a `StorageUnavailableError`.
   * Connections of the application's `pool` use the `connectionTimeoutMillis` of that pool.
   */
  connectTimeoutMs?: number;
  /**
   * How long Postgres can leave everything unanswered, in milliseconds; 500 to 3,600,000, 1600 by default. After this
   * time, all connections are closed, calls fail with a `StorageUnavailableError`, and new connections are tried until
   * one is answered. A statement that takes long is not affected, because Postgres answers other questions meanwhile.
   */
  silenceTimeoutMs?: number;
  /**
   * Whether every transaction sets READ COMMITTED; `true` by default. `false` keeps the database's default isolation
   * level.
   */
  useRecommendedIsolationLevel?: boolean;
  /**
   * With `true`, the default, writers of a queue rely on row locks alone. With `false`, they run one at a time, across
   * all processes with this setting. Writers are clients that enqueue, and servers that claim, complete, renew, release
   * and promote jobs. `false` is slower, and meant for databases that have trouble with concurrent writers.
   * Transactions of callers and handlers are never serialized, because they could lock a queue indefinitely.
   */
  disableGlobalLocks?: boolean;
  /**
   * Maximum duration of a batch of state changes (one round trip), in milliseconds; 1000 to 3,600,000, 300,000 by
   * default. A batch that takes longer is cancelled and retried.
   */
  commandBatchMaxTimeoutMs?: number;
  /**
   * Maximum time that a handler's `transaction` can be idle between statements, in milliseconds; 1000 to 86,400,000,
   * 300,000 by default. An idle transaction keeps rows locked and prevents vacuuming in the whole database. After this
   * time, Postgres ends the transaction, and the attempt fails with a `StorageUnavailableError` that names this option.
   */
  transactionIdleTimeoutMs?: number;
  /**
   * Maximum duration of a search, in milliseconds; 1 to 3,600,000, 10,000 by default. A longer search fails with a
   * `ReadTimeoutError`. Searches are calls such as `jobs.list` and `jobs.count` that may have to read many jobs, for
   * example to filter by name, argument or server. They use two separate connections.
   */
  searchTimeoutMs?: number;
  /**
   * URL of a read replica for the searches described at `searchTimeoutMs`; `url` by default. Results lag behind by the
   * replica's delay. While the replica cannot be reached, or is behind by more than `searchMaxLagMs`, these searches use
   * `url`. Everything else always does, including searches that select the jobs for an action.
   */
  searchUrl?: string;
  /** How far the replica can be behind before searches use `url`, in milliseconds; 0 to 3,600,000, 10,000 by default. */
  searchMaxLagMs?: number;
  /**
   * `transaction` if `url` or `pool` leads to a pooler that can run each transaction on a different connection, such as
   * pgbouncer in transaction mode; `none` by default. With `transaction`, statements are not prepared, and each
   * transaction applies the session settings. Servers find jobs by polling (see `queuePollIntervalMs`; every 200 ms by
   * default), because such a pooler forwards no notifications.
   */
  pooler?: Pooler;
  /**
   * `citus` spreads the tables over the nodes of a Citus cluster; `none` by default. With `citus`, the database must be
   * on the cluster's coordinator, and `open` distributes the tables, including existing jobs. With `none`, `open`
   * rejects tables that have been distributed.
   */
  distribution?: Distribution;
  /**
   * URL that bypasses a pooler. `open` uses it to migrate and distribute the tables, because both steps hold locks for
   * longer than a transaction. By default, `open` connects like the rest of the storage.
   */
  directUrl?: string;
  /**
   * Maximum number of queues; 1 to 1,000,000, 10,000 by default. A job whose queue would exceed the limit is rejected
   * with a `TooManyQueuesError`. For jobs enqueued from SQL, the limit is the value that a process last set explicitly.
   */
  maxQueues?: number;
  /**
   * `run`, the default, if `open` brings the tables up to date; `verify` if it only requires that they are, and fails with
   * a `StorageUnavailableError` otherwise. With `verify`, another process has to migrate, such as `longshore migrate`.
   */
  migrate?: MigrationMode;
  /**
   * `paused` if `open` pauses the installation as a whole when the database is a copy, such as a restored backup, of the
   * one that was last resumed, or if none was ever resumed: servers start no jobs, and no messages about incidents are
   * sent, until an operator resumes it (`installation.resume`). `running` by default.
   */
  start?: 'running' | 'paused';
  /** Logs migrations that wait, and tables that are newer than this version; by default, warnings go to the console. */
  logger?: Logger;
  /** Application name of the connections, as shown in `pg_stat_activity`; `longshore` by default. */
  applicationName?: string;
  /**
   * Number of days for which finished jobs are kept, by final state; 1 to 3650. By default 7 for `done` and
   * `cancelled`, 30 for `failed`. Days are whole UTC days. All servers of a database should use the same values.
   */
  retentionDays?: Partial<RetentionDays>;
}

const isSsl: Check = (what, value) => {
  if (typeof value !== 'boolean' && (typeof value !== 'object' || value === null || Array.isArray(value)))
    throw new TypeError(`${what} must be true, false or an object with TLS settings, not ${shown(value)}`);
};

const postgresOptions: OptionNames<PostgresOptions> = {
  url: true,
  pool: true,
  ssl: isSsl,
  schema: true,
  poolSize: true,
  readPoolSize: true,
  readTimeoutMs: true,
  connectTimeoutMs: true,
  silenceTimeoutMs: true,
  useRecommendedIsolationLevel: isBoolean,
  disableGlobalLocks: isBoolean,
  commandBatchMaxTimeoutMs: true,
  transactionIdleTimeoutMs: true,
  searchTimeoutMs: true,
  searchUrl: true,
  searchMaxLagMs: true,
  pooler: isOneOf(['none', 'transaction']),
  distribution: true,
  directUrl: true,
  maxQueues: true,
  migrate: isOneOf(['run', 'verify']),
  start: isOneOf(['running', 'paused']),
  logger: isLogger,
  applicationName: isText,
  retentionDays: true,
};

/**
 * Returns the options of the connections for writes, with defaults filled in.
 *
 * @throws {RangeError} if an option is out of bounds; the message names the option
 * @throws {TypeError} if an option is unknown
 */
export function databaseOptions(options: PostgresOptions): DatabaseOptions {
  checkOptions('PostgresStorage', options, postgresOptions);
  const connection = connectionOf(options);
  const { pool, directUrl, ssl } = options;
  return {
    connection,
    direct: directUrl === undefined ? connection : settingsOfUrl('directUrl', directUrl, ssl),
    ...(pool !== undefined && { pool }),
    schema: checkSchema(options.schema ?? defaultSchema),
    poolSize: bounded('poolSize', options.poolSize ?? 10, 1, 500),
    useRecommendedIsolationLevel: options.useRecommendedIsolationLevel ?? true,
    disableGlobalLocks: options.disableGlobalLocks ?? true,
    statementTimeoutMs: bounded(
      'commandBatchMaxTimeoutMs',
      options.commandBatchMaxTimeoutMs ?? 300_000,
      1_000,
      3_600_000,
    ),
    connectTimeoutMs: bounded('connectTimeoutMs', options.connectTimeoutMs ?? 5_000, 100, 3_600_000),
    silenceTimeoutMs: bounded('silenceTimeoutMs', options.silenceTimeoutMs ?? 1_600, 500, 3_600_000),
    transactionIdleTimeoutMs: bounded(
      'transactionIdleTimeoutMs',
      options.transactionIdleTimeoutMs ?? 300_000,
      1_000,
      86_400_000,
    ),
    applicationName: options.applicationName ?? 'longshore',
    pooler: options.pooler ?? 'none',
    distribution: checkDistribution(options.distribution ?? 'none'),
  };
}

function connectionOf({ url, pool, ssl, poolSize }: PostgresOptions): ConnectionSettings {
  if (pool === undefined) return settingsOfUrl('url', url, ssl);
  for (const [name, value] of Object.entries({ url, ssl, poolSize }))
    if (value !== undefined) throw new RangeError(`Give either pool or ${name}: the pool determines both`);
  return settingsOfPool(checkPool(pool));
}

/**
 * Returns the options of connections that the storage opens itself, even if the application passes a pool. Throws like
 * {@link databaseOptions}.
 */
export function ownConnectionOptions(options: PostgresOptions): DatabaseOptions {
  const { pool: _, ...rest } = databaseOptions(options);
  return rest;
}

/** Returns the options of the connections for reads. Throws like {@link databaseOptions}. */
export function readOptions(options: PostgresOptions): DatabaseOptions {
  const poolSize = bounded('readPoolSize', options.readPoolSize ?? 4, 1, 500);
  const statementTimeoutMs = bounded('readTimeoutMs', options.readTimeoutMs ?? 5_000, 1, 3_600_000);
  return { ...ownConnectionOptions(options), poolSize, statementTimeoutMs, reads: true };
}

/** Returns the options of the connections for searches. Throws like {@link databaseOptions}. */
export function searchOptions(options: PostgresOptions): DatabaseOptions {
  const statementTimeoutMs = bounded('searchTimeoutMs', options.searchTimeoutMs ?? 10_000, 1, 3_600_000);
  return { ...ownConnectionOptions(options), poolSize: 2, statementTimeoutMs, reads: true };
}

/**
 * Returns the options of the connections for searches on a read replica; `undefined` if there is no replica. Throws
 * like {@link databaseOptions}.
 */
export function replicaOptions(options: PostgresOptions): DatabaseOptions | undefined {
  if (options.searchUrl === undefined) return undefined;
  const connection = settingsOfUrl('searchUrl', options.searchUrl, options.ssl);
  return { ...searchOptions(options), connection };
}

/** Returns when searches use the read replica. Throws like {@link databaseOptions}. */
export function replicaPolicy({ searchMaxLagMs = 10_000, logger = consoleLogger }: PostgresOptions): {
  readonly maxLagMs: number;
  readonly logger: Logger;
} {
  return { maxLagMs: bounded('searchMaxLagMs', searchMaxLagMs, 0, 3_600_000), logger };
}

/** Returns how `open` brings the tables up to date. */
export function migrationPolicy({
  migrate = 'run',
  logger = consoleLogger,
}: PostgresOptions): MigrationPolicy {
  return { mode: migrate, logger };
}

/**
 * Returns the maximum number of queues, 10,000 by default.
 *
 * @throws {RangeError} if it is out of bounds
 */
export function maxQueues({ maxQueues = 10_000 }: PostgresOptions): number {
  return bounded('maxQueues', maxQueues, 1, 1_000_000);
}

function checkDistribution(value: unknown): Distribution {
  if (value === 'none' || value === 'citus') return value;
  throw new RangeError(`distribution must be none or citus, not ${shown(value)}`);
}

function bounded(name: string, value: number, min: number, max: number): number {
  return checkInteger(name, value, { min, max });
}

/**
 * Checks a schema name and returns it.
 *
 * @throws {RangeError} if the name is not valid
 */
function checkSchema(name: unknown): string {
  if (typeof name === 'string' && /^(?!pg_|information_schema$)[a-z_][a-z0-9_]{0,58}$/.test(name))
    return name;
  throw new RangeError(
    `schema must have 1 to 59 lowercase letters, digits and underscores, and not begin with a digit or pg_, or be information_schema; it is ${shown(name)}`,
  );
}
