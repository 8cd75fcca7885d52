import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { DatabaseOptions } from './database-options.js';
import { WatchedClient, type WatchedConfig, watchedConfig } from './watched-client.js';
import { codeOf, fromDriver, isRefused, isTransient, translate } from './errors.js';
import { jobStoreFiles, type MigrationFiles, textsOf, withDirectory } from './migration-files.js';
import { defaultSchema, type Schema } from './schema.js';
import { meaning, type Settings } from './session.js';

/** A schema and its migration files. */
export interface Migrations {
  /** Directory of migration files in the format of node-pg-migrate. */
  readonly directory: URL;
  /** Name of the schema, which is created if missing. Its table `migration` lists the applied migrations. */
  readonly schema: string;
}

/** Like {@link Migrations}, but the files can also be given as SQL texts. */
interface AnyMigrations {
  readonly directory: MigrationFiles;
  readonly schema: string;
  /** Settings of the session in which they run; none by default. */
  readonly settings?: Settings;
}

/** Returns the migrations of the job store's tables, rewritten for the given schema. */
export async function jobStoreIn(schema: Schema): Promise<AnyMigrations> {
  const { name } = schema;
  if (name === defaultSchema) return { directory: jobStoreFiles, schema: name, settings: meaning };
  const texts = Object.entries(await textsOf(jobStoreFiles));
  const rendered = Object.fromEntries(texts.map(([file, text]) => [file, schema.render(text)]));
  return { directory: rendered, schema: name, settings: meaning };
}

/** SQLSTATEs after which a migration is retried: lock timeout and deadlock. */
const retryableStates = /^(55P03|40P01)$/;

const maxAttempts = 60;
const betweenAttemptsMs = 1_000;

/**
 * Brings a schema up to date in one transaction. Concurrent calls wait for one another on node-pg-migrate's advisory
 * lock. After a lock timeout or a deadlock, tries again once a second, up to 60 attempts in total.
 *
 * @throws {StorageUnavailableError} if the database cannot be reached, or if the last attempt fails for the same reason
 * @throws {Error} if a migration fails, and the message names the migration, or if the encoding of the database is not
 *   UTF8
 */
export async function migrate(
  options: DatabaseOptions,
  { directory, schema, settings = {} }: AnyMigrations,
): Promise<void> {
  const connection = connectionOf(options, settings);
  let name = '';
  const run = (dir: string): Promise<void> =>
    withClient(connection, async (client) => {
      await requireUtf8(client);
      // Imported here, because a client that does not migrate would spend a sixth of its start on it.
      const { runner } = await import('node-pg-migrate');
      return fromDriver(
        runner({
          dbClient: client,
          dir,
          direction: 'up',
          migrationsTable: 'migration',
          schema,
          createSchema: !(await schemaExists(client, schema)),
          singleTransaction: true,
          advisoryLockMode: 'wait',
          log: (line) => (name = /^### MIGRATION (\S+) \(UP\)/.exec(line)?.[1] ?? name),
        }),
      ).catch((error: unknown) => {
        throw isTransient(error) || retryableStates.test(codeOf(error))
          ? error
          : new MigrationError(name, dir, error);
      });
    });
  await retrying(() => withDirectory(directory, run));
}

/**
 * Returns the names of the migrations that {@link migrate} would run, in order. Changes nothing.
 *
 * @throws {StorageUnavailableError} if the database cannot be reached
 */
export async function pendingMigrations(
  options: DatabaseOptions,
  { directory, schema }: AnyMigrations,
): Promise<string[]> {
  const files = directory instanceof URL ? await readdir(directory) : Object.keys(directory);
  const names = files.filter((file) => !file.startsWith('.')).map((file) => path.parse(file).name);
  let applied = new Set<string>();
  await withClient(connectionOf(options, {}), async (client) => {
    const table = `${client.escapeIdentifier(schema)}.migration`;
    const { rows } = await fromDriver(
      client.query(`select from pg_class where oid = to_regclass($1)`, [table]),
    );
    if (rows.length === 0) return;
    const { rows: migrations } = await fromDriver(
      client.query<{ name: string }>(`select name from ${table}`),
    );
    applied = new Set(migrations.map(({ name }) => name));
  }).catch((error: unknown) => {
    throw translate(error);
  });
  return names.filter((name) => !applied.has(name)).toSorted();
}

function connectionOf(options: DatabaseOptions, settings: Settings): WatchedConfig {
  // No statement timeout: waiting for the advisory lock can take as long as another process's migrations.
  return watchedConfig(
    { ...options, connection: options.direct, pooler: 'none', statementTimeoutMs: 0 },
    settings,
  );
}

/**
 * Thrown if a migration fails because of its content. The database is then unchanged, because all migrations run in one
 * transaction.
 */
class MigrationError extends Error {
  override readonly name = 'MigrationError';

  constructor(migration: string, directory: string, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const which = migration === '' ? 'A migration' : `The migration ${migration}`;
    super(`${which} in ${directory} failed, and nothing was changed: ${reason}`, { cause });
  }
}

/** Runs migrations, and retries them after a deadlock or a lock timeout. */
async function retrying(run: () => Promise<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await run();
      return;
    } catch (error) {
      if (error instanceof MigrationError) throw error;
      if (attempt === maxAttempts || !retryableStates.test(codeOf(error)))
        throw isRefused(error) ? error : translate(error);
      await delay(betweenAttemptsMs);
    }
  }
}

/**
 * Checks that the database can store every text, and knows its characters. In SQL_ASCII, Postgres knows only bytes: it
 * counts and folds those, and accepts texts that are not UTF-8 from others.
 */
async function requireUtf8(client: pg.Client): Promise<void> {
  const { rows } = await fromDriver(
    client.query<{ server_encoding: string }>('select current_setting($1) as server_encoding', [
      'server_encoding',
    ]),
  );
  const encoding = rows[0]?.server_encoding;
  if (encoding === 'UTF8') return;
  throw new Error(
    `The encoding of the database is ${encoding}, but Longshore needs UTF8: create the database with "create database … encoding 'UTF8' template template0", and move the data of this one with pg_dump`,
  );
}

/**
 * Returns whether a schema exists. Needed because `create schema if not exists` requires permission to create schemas
 * even if the schema exists.
 */
async function schemaExists(client: pg.Client, schema: string): Promise<boolean> {
  const { rowCount } = await fromDriver(
    client.query('select from pg_namespace where nspname = $1', [schema]),
  );
  return rowCount === 1;
}

/**
 * Calls `work` with a new connection, and closes the connection afterwards. The `error` listener keeps a broken
 * connection from ending the process.
 */
async function withClient(
  connection: WatchedConfig,
  work: (client: pg.Client) => Promise<unknown>,
): Promise<void> {
  const client = new WatchedClient(connection);
  client.on('error', () => undefined);
  await fromDriver(client.connect());
  try {
    await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}
