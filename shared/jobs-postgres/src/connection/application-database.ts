import type pg from 'pg';
import { connectionConfig } from './database.js';
import { closePool, createPool } from './pool.js';
import { migrate, type Migrations } from './migrate.js';
import { databaseOptions, type PostgresOptions, readOptions } from './options.js';

/** The connection pools for an application's own tables, which may be in the same database as its jobs. */
export interface ApplicationDatabase {
  /** The pool for writes: the given `pool`, or one that connects on first use. */
  readonly pool: pg.Pool;
  /**
   * A separate pool for reads on behalf of users, so that they cannot use up the connections for writes. Unless there
   * is a transaction pooler, each statement is limited to `readTimeoutMs`. Connects on first use.
   */
  readonly reads: pg.Pool;
  /** Brings the application's schema up to date. Safe to call from many processes at once. */
  migrate(migrations: Migrations): Promise<void>;
  close(): Promise<void>;
}

/** Creates the connection pools of an application's resources and handlers. `close` leaves a given `pool` open. */
export function createApplicationDatabase(options: PostgresOptions): ApplicationDatabase {
  const resolved = databaseOptions(options);
  const pool = options.pool ?? createPool({ ...connectionConfig(resolved), max: resolved.poolSize });
  const forReads = readOptions(options);
  const reads = createPool({ ...connectionConfig(forReads), max: forReads.poolSize });
  return {
    pool,
    reads,
    migrate: (migrations) => migrate(resolved, migrations),
    close: async () => {
      await Promise.all([options.pool === undefined && closePool(pool), closePool(reads)]);
    },
  };
}
