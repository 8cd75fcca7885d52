import { fileURLToPath } from 'node:url';
import { runner } from 'node-pg-migrate';
import { type DatabaseOptions, connectionConfig, translate } from './database.js';

/** Everything Longshore makes in the database lives in this schema. */
export const schema = 'longshore';

/**
 * Brings the schema up to date. Any number of processes may call it at the same moment: node-pg-migrate's advisory lock
 * makes them wait for one another, and the later ones find nothing to do.
 *
 * @throws {StorageUnavailableError} if the database cannot be reached
 */
export async function migrate(options: DatabaseOptions): Promise<string[]> {
  try {
    const applied = await runner({
      // Waiting for the lock may take as long as the migrations of the process that holds it.
      databaseUrl: { ...connectionConfig({ ...options, statementTimeoutMs: 0 }) },
      dir: fileURLToPath(new URL('../migrations', import.meta.url)),
      direction: 'up',
      migrationsTable: 'migration',
      schema,
      createSchema: true,
      advisoryLockMode: 'wait',
      log: () => undefined,
    });
    return applied.map(({ name }) => name);
  } catch (error) {
    throw translate(error);
  }
}
