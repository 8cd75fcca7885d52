import { fileURLToPath } from 'node:url';
import { runner } from 'node-pg-migrate';
import { connectionConfig, type DatabaseOptions, translate } from './database.js';

/** A schema and the files that bring it up to date. */
export interface Migrations {
  /** Of files for node-pg-migrate. */
  readonly directory: URL;
  /** Made if it does not exist. Its table `migration` notes what has been applied. */
  readonly schema: string;
}

/** Everything that Longshore itself makes in the database lives in this schema. */
export const jobStore: Migrations = {
  directory: new URL('../migrations', import.meta.url),
  schema: 'longshore',
};

/**
 * Brings a schema up to date. Any number of processes may call it at the same moment: node-pg-migrate's advisory lock
 * makes them wait for one another, and the later ones find nothing to do. All files are applied, or none.
 *
 * @throws {StorageUnavailableError} if the database cannot be reached
 */
export async function migrate(options: DatabaseOptions, { directory, schema }: Migrations): Promise<void> {
  try {
    await runner({
      // Waiting for the lock may take as long as the migrations of the process that holds it.
      databaseUrl: connectionConfig({
        ...options,
        url: options.directUrl,
        pooler: 'none',
        statementTimeoutMs: 0,
      }),
      dir: fileURLToPath(directory),
      direction: 'up',
      migrationsTable: 'migration',
      schema,
      createSchema: true,
      singleTransaction: true,
      advisoryLockMode: 'wait',
      log: () => undefined,
    });
  } catch (error) {
    throw translate(error);
  }
}
