import type { PoolStatus } from '@longshore/jobs/storage';
import type pg from 'pg';
import { watchedConfig } from './watched-client.js';
import { closePool, createPool, poolStatus, setsUp } from './pool.js';
import { stopsWithClient } from './session.js';
import { requireWritable } from './writable.js';
import { migrate, type Migrations, pendingMigrations } from './migrate.js';
import { databaseOptions, migrationPolicy, type PostgresOptions, readOptions } from './options.js';

/** Connection pools for an application's own tables. These tables can be in the same database as the jobs. */
export interface ApplicationDatabase {
  /** The pool for writes: `pool` from the options if given, otherwise a new one that connects on first use. */
  readonly pool: pg.Pool;
  /**
   * A separate pool for reads, so that they cannot exhaust the connections for writes. Connects on first use.
   * `readTimeoutMs` limits each statement, except behind a transaction pooler. A statement ends within about a second if
   * its connection is closed.
   */
  readonly reads: pg.Pool;
  /**
   * Brings the application's schema up to date, or only verifies that it is, as the option `migrate` says. Safe to call
   * from many processes at once.
   */
  migrate(migrations: Migrations): Promise<void>;
  /** Resolves to the names of the migrations that `migrate` would run, in order. Changes nothing. */
  pendingMigrations(migrations: Migrations): Promise<readonly string[]>;
  /** Whether a connection is open or being opened. */
  readonly isConnected: boolean;
  /**
   * Checks that `pool` can be used, and `reads` if it has connections, and that the server accepts writes.
   *
   * @throws {StorageUnavailableError} if not
   */
  ping(): Promise<void>;
  /** Returns the state of both pools. */
  pools(): PoolStatus[];
  close(): Promise<void>;
}

/** Creates the connection pools for an application's own tables. `close` leaves a pool from the options open. */
export function createApplicationDatabase(options: PostgresOptions): ApplicationDatabase {
  const resolved = databaseOptions(options);
  const pool = options.pool ?? createPool({ ...watchedConfig(resolved, {}), max: resolved.poolSize });
  const forReads = readOptions(options);
  const reads = createPool({
    ...watchedConfig(forReads, {}),
    max: forReads.poolSize,
    ...(forReads.pooler === 'none' && { verify: setsUp(stopsWithClient, forReads.connectTimeoutMs) }),
  });
  return {
    pool,
    reads,
    migrate: (migrations) => migrate(resolved, migrations, migrationPolicy(options)),
    pendingMigrations: (migrations) => pendingMigrations(resolved, migrations),
    ping: async () => {
      const used = reads.totalCount > 0 ? [pool, reads] : [pool];
      await Promise.all(used.map((database) => requireWritable(() => database.connect())));
    },
    get isConnected() {
      return pool.totalCount + reads.totalCount > 0;
    },
    pools: () => [poolStatus('application-writes', pool), poolStatus('application-reads', reads)],
    close: async () => {
      await Promise.all([options.pool === undefined && closePool(pool), closePool(reads)]);
    },
  };
}
