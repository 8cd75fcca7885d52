import { setTimeout as delay } from 'node:timers/promises';
import { type Logger, StorageUnavailableError } from '@longshore/jobs';
import type pg from 'pg';
import type { DatabaseOptions } from './database-options.js';
import { WatchedClient, type WatchedConfig, watchedConfig } from './watched-client.js';
import { codeOf, fromDriver, isRefused, isTransient, translate } from './errors.js';
import { type BlockingSession, describe, holdersOf, observingLocks } from './lock-observer.js';
import { jobStoreFiles, type MigrationFiles, textsOf, withDirectory } from './migration-files.js';
import { defaultSchema, type Schema } from './schema.js';
import { noteRequirements, readSchemaState, type SchemaState } from './schema-state.js';
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

/** Whether missing migrations are run, or only looked for. */
export type MigrationMode = 'run' | 'verify';

/** How a schema is brought up to date. */
export interface MigrationPolicy {
  readonly mode: MigrationMode;
  readonly logger: Logger;
}

/** Returns the migrations of the job store's tables, rewritten for the given schema. */
export async function jobStoreIn(schema: Schema): Promise<AnyMigrations> {
  const { name } = schema;
  if (name === defaultSchema) return { directory: jobStoreFiles, schema: name, settings: meaning };
  const texts = Object.entries(await textsOf(jobStoreFiles));
  const rendered = Object.fromEntries(texts.map(([file, text]) => [file, schema.render(text)]));
  return { directory: rendered, schema: name, settings: meaning };
}

/** The key of node-pg-migrate's advisory lock, with which only one process at a time migrates a database. */
const migrationLock = '7241865325823964';

/** How long to wait before trying to take the lock again, in milliseconds. */
const lockRetryMs = 250;

/** How often to repeat the message about a process that keeps the lock, in milliseconds. */
const reportEveryMs = 30_000;

/**
 * How long a statement of a migration can wait for a lock, in milliseconds. Short, because everything that arrives later
 * queues behind it, reads included.
 */
const lockTimeoutMs = 500;

/** SQLSTATEs after which a migration is retried: lock timeout and deadlock. */
const retryableStates = /^(55P03|40P01)$/;

const maxAttempts = 60;
const betweenAttemptsMs = 2_000;

/**
 * Brings a schema up to date in one transaction. Concurrent calls wait for one another on node-pg-migrate's advisory
 * lock. A statement that waits for a lock for longer than half a second undoes everything, so that others can work; the
 * log names whom it waited for, and the migrations are tried again every two seconds, up to 60 times.
 *
 * With the mode `verify`, runs nothing, and requires that there is nothing to run.
 *
 * @throws {StorageUnavailableError} if the database cannot be reached, if the last attempt fails for the same reason, or
 *   if migrations are missing in the mode `verify`
 * @throws {Error} if a migration fails, and the message names the migration; if the encoding of the database is not
 *   UTF8; or if a newer version has changed the schema so that this one cannot use it
 */
export async function migrate(
  options: DatabaseOptions,
  migrations: AnyMigrations,
  { mode, logger }: MigrationPolicy,
): Promise<void> {
  const { directory, schema, settings = {} } = migrations;
  const connection = connectionOf(options, settings);
  let state: SchemaState | undefined;
  await withClient(connection, async (client) => {
    await requireUtf8(client);
    state = await readSchemaState(client, schema, directory);
    requireUsable(schema, state, logger);
    if (mode === 'verify' && state.pending.length > 0) throw missingMigrations(schema, state.pending);
  }).catch((error: unknown) => {
    throw isRefused(error) ? error : translate(error);
  });
  if (state?.pending.length === 0) return;
  const run = (dir: string, attempt: Attempt): Promise<void> =>
    withClient(connection, async (client) => {
      await takeLock(client, schema, logger);
      await runPending(client, migrations, dir, connection, attempt);
    });
  await retrying(schema, logger, (attempt) => withDirectory(directory, (dir) => run(dir, attempt)));
}

/** What one attempt knows of the one before, and learns for the one after. */
interface Attempt {
  blockers: readonly BlockingSession[];
}

async function runPending(
  client: pg.Client,
  { directory, schema }: AnyMigrations,
  dir: string,
  connection: WatchedConfig,
  attempt: Attempt,
): Promise<void> {
  const { exists, pending } = await readSchemaState(client, schema, directory);
  if (pending.length === 0) return; // another process has run them
  // Imported here, because a client that does not migrate would spend a sixth of its start on it.
  const { runner } = await import('node-pg-migrate');
  const pid = await limitLockWaits(client, attempt.blockers);
  if (!exists) await fromDriver(client.query(`create schema ${client.escapeIdentifier(schema)}`));
  await noteRequirements(client, schema, directory, pending);
  let name = '';
  const apply = (): Promise<unknown> =>
    fromDriver(
      runner({
        dbClient: client,
        dir,
        direction: 'up',
        migrationsTable: 'migration',
        schema,
        singleTransaction: true,
        noLock: true,
        log: (line) => (name = /^### MIGRATION (\S+) \(UP\)/.exec(line)?.[1] ?? name),
      }),
    );
  attempt.blockers = [];
  await observingLocks(
    pid,
    () => connect(connection),
    apply,
    (blockers) => (attempt.blockers = blockers),
  ).catch((error: unknown) => {
    throw isTransient(error) || retryableStates.test(codeOf(error))
      ? error
      : new MigrationError(name, dir, error);
  });
}

/**
 * Sets the lock timeout of the session, and returns its process id. Postgres cancels an autovacuum that is in the way
 * only after `deadlock_timeout`, so if nothing else was in the way, the timeout is longer than that.
 */
async function limitLockWaits(client: pg.Client, blockers: readonly BlockingSession[]): Promise<number> {
  const isVacuum =
    blockers.length > 0 && blockers.every(({ application }) => application.startsWith('autovacuum'));
  const more = isVacuum ? `extract(epoch from current_setting('deadlock_timeout')::interval) * 1000` : '0';
  const { rows } = await fromDriver(
    client.query<{ pid: number }>(
      `select pg_backend_pid() as pid, set_config('lock_timeout', (${lockTimeoutMs} + ${more})::bigint::text, false)`,
    ),
  );
  return rows[0]?.pid ?? 0;
}

/** Takes the advisory lock for the rest of the session. Waits by trying, so that nothing else limits the wait. */
async function takeLock(client: pg.Client, schema: string, logger: Logger): Promise<void> {
  let waitedMs = 0;
  for (;;) {
    const { rows } = await fromDriver(
      client.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [migrationLock]),
    );
    if (rows[0]?.taken === true) return;
    if (waitedMs % reportEveryMs === 0) {
      const holders = await holdersOf(client, migrationLock);
      const message = `the migrations of the schema ${schema} wait for another process that migrates: ${describe(holders)}`;
      logger[waitedMs === 0 ? 'info' : 'warn']({ schema, waitingFor: holders }, message);
    }
    await delay(lockRetryMs);
    waitedMs += lockRetryMs;
  }
}

/**
 * Returns the names of the migrations that {@link migrate} would run, in order. Changes nothing.
 *
 * @throws {StorageUnavailableError} if the database cannot be reached
 */
export async function pendingMigrations(
  options: DatabaseOptions,
  { directory, schema }: AnyMigrations,
): Promise<readonly string[]> {
  let pending: readonly string[] = [];
  await withClient(connectionOf(options, {}), async (client) => {
    ({ pending } = await readSchemaState(client, schema, directory));
  }).catch((error: unknown) => {
    throw translate(error);
  });
  return pending;
}

function connectionOf(options: DatabaseOptions, settings: Settings): WatchedConfig {
  // No statement timeout: a migration can take long.
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

/** Thrown if a newer version of the program has changed the schema so that this version cannot use it. */
class IncompatibleSchemaError extends Error {
  override readonly name = 'IncompatibleSchemaError';
}

/**
 * Reports a schema that is newer than this program.
 *
 * @throws {IncompatibleSchemaError} if the newer version excludes this one
 */
function requireUsable(schema: string, { unknown, refusal }: SchemaState, logger: Logger): void {
  if (refusal !== null)
    throw new IncompatibleSchemaError(
      `The schema ${schema} is too new for this version: the migration ${refusal.name} needs programs that know the migration ${refusal.needs}. Start a newer version, or restore a backup from before that migration`,
    );
  if (unknown.length > 0)
    logger.warn(
      { schema, migrations: unknown },
      `the schema ${schema} is newer than this version, which can still use it: a newer one has run ${unknown.join(', ')}`,
    );
}

function missingMigrations(schema: string, pending: readonly string[]): StorageUnavailableError {
  const count = pending.length === 1 ? 'a migration' : `${pending.length} migrations`;
  const summary = `The schema ${schema} lacks ${count}: run longshore migrate`;
  return new StorageUnavailableError(
    `${summary} (${pending.join(', ')}), because this process only verifies them (DATABASE_MIGRATE=verify, migrate: 'verify')`,
    { summary },
  );
}

/** Runs migrations, and retries them after a deadlock or a lock timeout. */
async function retrying(
  schema: string,
  logger: Logger,
  run: (attempt: Attempt) => Promise<unknown>,
): Promise<void> {
  const attempt: Attempt = { blockers: [] };
  for (let number = 1; ; number++) {
    try {
      await run(attempt);
      return;
    } catch (error) {
      if (error instanceof MigrationError) throw error;
      if (number === maxAttempts || !retryableStates.test(codeOf(error)))
        throw isRefused(error) ? error : translate(error);
      const message = `the migrations of the schema ${schema} were undone, because a lock was not available (attempt ${number} of ${maxAttempts}); they waited for ${describe(attempt.blockers)}`;
      logger.warn({ schema, attempt: number, waitingFor: attempt.blockers }, message);
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
 * Calls `work` with a new connection, and closes the connection afterwards. The `error` listener keeps a broken
 * connection from ending the process.
 */
async function withClient(
  connection: WatchedConfig,
  work: (client: pg.Client) => Promise<unknown>,
): Promise<void> {
  const client = await connect(connection);
  try {
    await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function connect(connection: WatchedConfig): Promise<pg.Client> {
  const client = new WatchedClient(connection);
  client.on('error', () => undefined);
  await fromDriver(client.connect());
  return client;
}
