import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { runner } from 'node-pg-migrate';
import pg from 'pg';
import { codeOf, connectionConfig, type DatabaseOptions, translate } from './database.js';

/** A schema and the files that bring it up to date. */
export interface Migrations {
  /** Of files for node-pg-migrate. */
  readonly directory: URL;
  /** Made if it does not exist, which takes the right to create schemas. Its table `migration` notes what has been applied. */
  readonly schema: string;
}

/** Everything that Longshore itself makes in the database lives in this schema. */
export const jobStore: Migrations = {
  directory: new URL('../../migrations', import.meta.url),
  schema: 'longshore',
};

/** Lock timeout, deadlock. */
const lost = /^(55P03|40P01)$/;

const maxAttempts = 60;
const betweenAttemptsMs = 1_000;

/**
 * Brings a schema up to date. Any number of processes may call it at the same moment: node-pg-migrate's advisory lock
 * makes them wait for one another, and the later ones find nothing to do. All files are applied, or none.
 *
 * @throws {StorageUnavailableError} if the database cannot be reached
 */
export async function migrate(options: DatabaseOptions, { directory, schema }: Migrations): Promise<void> {
  // Waiting for the lock may take as long as the migrations of the process that holds it.
  const databaseUrl = connectionConfig({
    ...options,
    url: options.directUrl,
    pooler: 'none',
    statementTimeoutMs: 0,
  });
  await patiently(async () =>
    runner({
      databaseUrl,
      dir: fileURLToPath(directory),
      direction: 'up',
      migrationsTable: 'migration',
      schema,
      createSchema: !(await schemaExists(databaseUrl, schema)),
      singleTransaction: true,
      advisoryLockMode: 'wait',
      log: () => undefined,
    }),
  );
}

/** Locks of tables in use may be hard to get. A migration gives up soon, for everybody waits behind it, and comes again. */
async function patiently(run: () => Promise<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await run();
      return;
    } catch (error) {
      if (attempt === maxAttempts || !lost.test(codeOf(error))) throw translate(error);
      await delay(betweenAttemptsMs);
    }
  }
}

/** `create schema if not exists` asks for the right to create schemas also where there is nothing to create. */
async function schemaExists(connection: pg.ClientConfig, schema: string): Promise<boolean> {
  const client = new pg.Client(connection);
  client.on('error', () => undefined); // the query fails, too
  await client.connect();
  try {
    const { rowCount } = await client.query('select from pg_namespace where nspname = $1', [schema]);
    return rowCount === 1;
  } finally {
    await client.end();
  }
}
