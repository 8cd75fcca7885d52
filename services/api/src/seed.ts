import { ConfigError, loadApplication, type Logger } from '@longshore/service';
import type { ApiConfig } from './config.js';
import { createStorage } from './storage.js';

/**
 * Replaces the rows of the application's tables with about `API_SEED_ROWS` example rows. Intended for load tests; no
 * service needs to be running.
 *
 * @throws {ConfigError} if there is no database, or the application has no example rows
 */
export async function seedTables(config: ApiConfig, logger: Logger): Promise<null> {
  const storage = createStorage({
    ...config,
    DATABASE_COMMAND_BATCH_MAX_TIMEOUT_MS: 3_600_000,
  });
  await storage.jobs.close(); // the job store is not needed
  if (storage.kind === 'memory')
    throw new ConfigError('Rows in memory are lost when the process ends: set DATABASE_URL to seed');
  const { application: database } = storage;
  try {
    const { name, tables } = await loadApplication(config.LONGSHORE_APP, {
      database: database.pool,
      directory: config.WORKER_RESULTS_DIR,
    });
    if (tables?.seed === undefined)
      throw new ConfigError(
        `The application "${name}" has no example rows: give its tables a function "seed"`,
      );
    await database.migrate(tables.migrations);
    const startedAt = performance.now();
    await tables.seed(database.pool, config.API_SEED_ROWS, { replace: true });
    const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
    logger.info({ application: name, rows: config.API_SEED_ROWS, seconds }, 'seeded');
  } finally {
    await database.close();
  }
  return null;
}
