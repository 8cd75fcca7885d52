import { ConfigError, loadApplication, type Logger } from '@longshore/service';
import type { ApiConfig } from './config.js';
import { apiTables, createStorage } from './storage.js';

/**
 * Migrates the schemas of the job storage, the API and the application. Intended for deployments that run migrations as
 * a separate step.
 *
 * @throws {ConfigError} if no database is configured, or the application cannot be loaded
 */
export async function migrateAll(config: ApiConfig, logger: Logger): Promise<null> {
  const storage = createStorage(config);
  const { jobs, application: database } = storage;
  try {
    if (storage.kind === 'memory') throw new ConfigError('Set DATABASE_URL to migrate a database');
    const { name, tables } = await loadApplication(config.LONGSHORE_APP, {
      database: database.pool,
      directory: config.WORKER_RESULTS_DIR,
    });
    await jobs.open();
    await database.migrate(apiTables(config).migrations);
    if (tables !== undefined) await database.migrate(tables.migrations);
    logger.info({ application: name }, 'migrated');
  } finally {
    await Promise.all([jobs.close(), database.close()]);
  }
  return null;
}
