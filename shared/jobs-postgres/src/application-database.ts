import type pg from 'pg';
import { connectionConfig } from './database.js';
import { closePool, createPool } from './pool.js';
import { migrate, type Migrations } from './migrate.js';
import { databaseOptions, type PostgresOptions } from './postgres-options.js';

/** An application's own tables, which may stand in the same database as its jobs. */
export interface ApplicationDatabase {
  /** Connects when it is first used. */
  readonly pool: pg.Pool;
  /** Brings the application's schema up to date; many processes may do so at once. */
  migrate(migrations: Migrations): Promise<void>;
  close(): Promise<void>;
}

/** A pool of connections for an application's resources and handlers. */
export function createApplicationDatabase(options: PostgresOptions): ApplicationDatabase {
  const resolved = databaseOptions(options);
  const pool = createPool({ ...connectionConfig(resolved), max: resolved.poolSize });
  return { pool, migrate: (migrations) => migrate(resolved, migrations), close: () => closePool(pool) };
}
