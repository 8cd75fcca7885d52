import type pg from 'pg';
import { connectionConfig } from './database.js';
import { closePool, createPool } from './pool.js';
import { migrate, type Migrations } from './migrate.js';
import { databaseOptions, type PostgresOptions, readOptions } from './options.js';

/** The connection pools for an application's own tables, which may be in the same database as its jobs. */
export interface ApplicationDatabase {
  /** Connects when it is first used. */
  readonly pool: pg.Pool;
  /**
   * For reads on behalf of users. They have a time limit and do not share connections with writes. Connects when it is first
   * used.
   */
  readonly reads: pg.Pool;
  /** Brings the application's schema up to date; safe to call from many processes at once. */
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
