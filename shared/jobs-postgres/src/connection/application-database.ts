import type pg from 'pg';
import { connectionConfig } from './database.js';
import { closePool, createPool } from './pool.js';
import { migrate, type Migrations } from './migrate.js';
import { databaseOptions, type PostgresOptions, readOptions } from './options.js';

/** An application's own tables, which may stand in the same database as its jobs. */
export interface ApplicationDatabase {
  /** Connects when it is first used. */
  readonly pool: pg.Pool;
  /** For reads that people ask for: with a time limit, and without a share in the connections of writes. Connects when it is first used. */
  readonly reads: pg.Pool;
  /** Brings the application's schema up to date; many processes may do so at once. */
  migrate(migrations: Migrations): Promise<void>;
  close(): Promise<void>;
}

/** A pool of connections for an application's resources and handlers. */
export function createApplicationDatabase(options: PostgresOptions): ApplicationDatabase {
  const resolved = databaseOptions(options);
  const pool = createPool({ ...connectionConfig(resolved), max: resolved.poolSize });
  const forReads = readOptions(options);
  const reads = createPool({ ...connectionConfig(forReads), max: forReads.poolSize });
  return {
    pool,
    reads,
    migrate: (migrations) => migrate(resolved, migrations),
    close: async () => {
      await Promise.all([closePool(pool), closePool(reads)]);
    },
  };
}
