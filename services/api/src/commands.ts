import { parseArgs } from 'node:util';
import { parseTypedTime } from '@longshore/edge';
import { ApiKeyFields } from '@longshore/jobs/operations';
import { validatorFor } from '@longshore/resources';
import { ConfigError, databaseOptions, listOf, loadApplication, type Logger } from '@longshore/service';
import {
  type ApplicationDatabase,
  createApplicationDatabase,
  type Migrations,
  PostgresStorage,
} from 'longshore';
import type { Static } from 'typebox';
import { newApiKey } from './access/api-key.js';
import { changeApiKey, toTerms } from './access/api-keys-resource.js';
import { tableApiKeyStore } from './access/table-api-key-store.js';
import type { ApiConfig } from './config.js';
import { apiTables, createStorage } from './storage.js';

const usage =
  'create-key --name NAME --scopes read,write,operate,admin [--queues mail,reports] [--expires 2027-01-31]';

/**
 * Creates an API key and prints its token. The token cannot be shown again. Intended for creating the first key, and
 * for operators who have access to the database but no key.
 *
 * @throws {ConfigError} if there is no database, or the arguments are invalid
 */
export async function createKey(config: ApiConfig, args: readonly string[], logger: Logger): Promise<null> {
  const body = readBody(args);
  const storage = createStorage(config, logger);
  if (storage.kind === 'memory')
    throw new ConfigError(
      'Keys in memory are lost when the process ends: set DATABASE_URL, or use API_ADMIN_KEY',
    );
  const { application: database, jobs } = storage;
  try {
    const tables = apiTables(config);
    await jobs.open(); // for the audit log
    await database.migrate(tables.migrations);
    const { key: target, token } = newApiKey(toTerms(body), null);
    const store = tableApiKeyStore(database.pool, tables.keys, jobs.audit);
    const by = { name: 'create-key', via: 'command', visibleQueues: null } as const;
    await changeApiKey.create.perform(store, { target, fields: body, by });
    process.stdout.write(`${token}\n`);
  } finally {
    await Promise.all([database.close(), jobs.close()]);
  }
  return null;
}

/** @throws {ConfigError} with every problem and the usage if the arguments are invalid */
function readBody(args: readonly string[]): Static<typeof ApiKeyFields> {
  const { name, scopes, queues, expires } = readArguments(args);
  const listed = (text: string, option: string): string[] => withUsage(() => listOf(text, option));
  const body = {
    name,
    scopes: scopes === undefined ? undefined : listed(scopes, '--scopes'),
    ...(queues !== undefined && { queues: listed(queues, '--queues') }),
    ...(expires !== undefined && { expiresAt: parseTypedTime(expires)?.toISOString() ?? expires }),
  };
  const problems = validatorFor(ApiKeyFields).check(body);
  if (problems.length === 0) return body as Static<typeof ApiKeyFields>;
  const messages = problems.map(
    ({ internalMessage }) => `--${internalMessage.replace(/^expiresAt/, 'expires')}`,
  );
  throw new ConfigError(`${messages.join('; ')}. Usage: ${usage}`);
}

function readArguments(args: readonly string[]) {
  const text = { type: 'string' } as const;
  const options = { name: text, scopes: text, queues: text, expires: text };
  return withUsage(() => parseArgs({ args: [...args], options }).values);
}

/** @throws {ConfigError} with the message of the error that `read` throws, and the usage */
function withUsage<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    throw new ConfigError(`${(error as Error).message}. Usage: ${usage}`);
  }
}

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
  return withMigrated(config, logger, async ({ jobs, database, tables, application }) => {
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
  return withMigrated(config, logger, async ({ jobs, database, tables, application }) => {
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

async function withMigrated(
  config: ApiConfig,
  logger: Logger,
  work: (migrated: Migrated) => Promise<void>,
): Promise<null> {
  if (config.API_STORAGE === 'memory' || config.DATABASE_URL === undefined)
    throw new ConfigError('Set DATABASE_URL to migrate a database');
  // Runs migrations even where services only verify them, because this is the command for it.
  const migrating = { ...config, DATABASE_URL: config.DATABASE_URL, DATABASE_MIGRATE: 'run' as const };
  const options = databaseOptions(migrating, 'migrate', logger);
  const jobs = new PostgresStorage(options);
  const database = createApplicationDatabase(options);
  try {
    const { name, tables } = await loadApplication(config, {
      storage: jobs,
      database: database.pool,
      logger,
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

/**
 * Replaces the rows of the application's tables with about `API_SEED_ROWS` example rows. Intended for load tests; no
 * service needs to be running.
 *
 * @throws {ConfigError} if there is no database, or the application has no example rows
 */
export async function seedTables(config: ApiConfig, logger: Logger): Promise<null> {
  const storage = createStorage({ ...config, DATABASE_COMMAND_BATCH_MAX_TIMEOUT_MS: 3_600_000 }, logger);
  await storage.jobs.close(); // the job store is not needed
  if (storage.kind === 'memory')
    throw new ConfigError('Rows in memory are lost when the process ends: set DATABASE_URL to seed');
  const { application: database } = storage;
  try {
    const { name, tables } = await loadApplication(config, {
      storage: storage.jobs,
      database: database.pool,
      logger,
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
