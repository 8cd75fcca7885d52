import {
  type ApplicationDatabase,
  createApplicationDatabase,
  type Migrations,
  PostgresStorage,
} from 'longshore';
import { ConfigError, databaseOptions, loadApplication, type Logger } from '@longshore/service';
import type { ApiConfig } from './config.js';
import { apiTables } from './storage.js';

/** What is migrated. */
interface Migrated {
  readonly jobs: PostgresStorage;
  readonly database: ApplicationDatabase;
  /** The migrations of the API, and of the application if it has tables. */
  readonly tables: readonly Migrations[];
  readonly application: string;
}

/**
 * Migrates the schemas of the job storage, the API and the application. Intended for deployments that run migrations as
 * a separate step.
 *
 * @throws {ConfigError} if no database is configured, or the application cannot be loaded
 */
export function migrateAll(config: ApiConfig, logger: Logger): Promise<null> {
  return withMigrated(config, async ({ jobs, database, tables, application }) => {
    await jobs.open();
    for (const migrations of tables) await database.migrate(migrations);
    logger.info({ application }, 'migrated');
  });
}

/**
 * Checks that {@link migrateAll} has nothing to do. Changes nothing.
 *
 * @throws {Error} if there is something to do; the message lists it
 * @throws {ConfigError} like {@link migrateAll}
 */
export function checkMigrations(config: ApiConfig, logger: Logger): Promise<null> {
  return withMigrated(config, async ({ jobs, database, tables, application }) => {
    const pending = (await jobs.pendingMigrations()).map((name) => `${config.DATABASE_SCHEMA}/${name}`);
    for (const migrations of tables)
      for (const name of await database.pendingMigrations(migrations))
        pending.push(`${migrations.schema}/${name}`);
    if (pending.length > 0)
      throw new Error(
        `${pending.length === 1 ? '1 migration has' : `${pending.length} migrations have`} not been run: ${pending.join(', ')}. Run longshore migrate, or start a service, which does the same`,
      );
    logger.info({ application }, 'all migrations have been run');
  });
}

async function withMigrated(config: ApiConfig, work: (migrated: Migrated) => Promise<void>): Promise<null> {
  if (config.API_STORAGE === 'memory' || config.DATABASE_URL === undefined)
    throw new ConfigError('Set DATABASE_URL to migrate a database');
  const options = databaseOptions({ ...config, DATABASE_URL: config.DATABASE_URL }, 'api');
  const jobs = new PostgresStorage(options);
  const database = createApplicationDatabase(options);
  try {
    const { name, tables } = await loadApplication(config.LONGSHORE_APP, {
      database: database.pool,
      directory: config.WORKER_RESULTS_DIR,
    });
    const api = apiTables(config).migrations;
    await work({
      jobs,
      database,
      tables: tables === undefined ? [api] : [api, tables.migrations],
      application: name,
    });
  } finally {
    await Promise.all([jobs.close(), database.close()]);
  }
  return null;
}
