import type pg from 'pg';
import type { ConnectionSettings } from './connection-settings.js';
import { limits, type Settings, startupOptions } from './session.js';
import type { Distribution } from './statement.js';

/**
 * The kind of connection pooler. `transaction`: each transaction can run on a different connection, as with pgbouncer
 * in transaction mode. Session state such as prepared statements, settings and LISTEN is then lost between
 * transactions.
 */
export type Pooler = 'none' | 'transaction';

export interface DatabaseOptions {
  readonly connection: ConnectionSettings;
  /** The application's pool. The storage uses it instead of creating one, and does not close it. */
  readonly pool?: pg.Pool;
  /** Name of the schema that contains the store's tables. */
  readonly schema: string;
  /** Maximum number of connections in the pool. */
  readonly poolSize: number;
  /** Whether every transaction sets READ COMMITTED. `false` keeps the database's default isolation level. */
  readonly useRecommendedIsolationLevel: boolean;
  /** `false` serializes transactions that change jobs of the same queue; `true` relies on row locks alone. */
  readonly disableGlobalLocks: boolean;
  /** Maximum duration of a statement, in milliseconds; 0 for no limit. */
  readonly statementTimeoutMs: number;
  /** Maximum time to wait for a connection, in milliseconds. */
  readonly connectTimeoutMs: number;
  /** How long Postgres can leave everything unanswered before its connections are closed, in milliseconds. */
  readonly silenceTimeoutMs: number;
  /** Maximum time that a handler's transaction can be idle between statements, in milliseconds. */
  readonly transactionIdleTimeoutMs: number;
  /** Name of the connections, as shown in `pg_stat_activity`. */
  readonly applicationName: string;
  readonly pooler: Pooler;
  readonly distribution: Distribution;
  /** Connection settings that bypass the pooler, for work that needs a session. */
  readonly direct: ConnectionSettings;
  /** Whether these connections are only used for reads; timeouts are then reported as {@link ReadTimeoutError}. */
  readonly reads?: boolean;
}

/** The configuration of a client of `pg`, and the file that contains its URL, see {@link ConnectionSettings.urlFile}. */
export type ClientConfig = pg.ClientConfig & Pick<ConnectionSettings, 'urlFile'>;

/**
 * Returns the `pg` configuration that all connections share: where to connect, timeouts, and settings of the session.
 *
 * @param settings further settings of the session
 */
export function connectionConfig(options: DatabaseOptions, settings: Settings): ClientConfig {
  const { options: startup = '', ...connection } = options.connection;
  return {
    ...connection,
    application_name: options.applicationName,
    // Left out behind a pooler, because poolers reject or ignore these options.
    ...(options.pooler === 'none' && {
      options: `${startup} ${startupOptions({ ...settings, ...limits(options) })}`.trim(),
    }),
    connectionTimeoutMillis: options.connectTimeoutMs,
    keepAlive: true,
  };
}
