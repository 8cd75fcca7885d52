import { parseArgs } from 'node:util';
import { parseTypedTime } from '@longshore/edge';
import { ConfigError, listOf } from '@longshore/service';
import { type ApiKeyTerms, newApiKey, type Scope, scopes } from './access/api-key.js';
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
export async function createKey(config: ApiConfig, args: readonly string[]): Promise<null> {
  const terms = readTerms(args);
  const storage = createStorage(config);
  await storage.jobs.close(); // the job store is not needed
  if (storage.kind === 'memory')
    throw new ConfigError(
      'Keys in memory are lost when the process ends: set DATABASE_URL, or use API_ADMIN_KEY',
    );
  const { application: database } = storage;
  try {
    const tables = apiTables(config);
    await database.migrate(tables.migrations);
    const { key, token } = newApiKey(terms, null);
    await tableApiKeyStore(database.pool, tables.keys).add(key);
    process.stdout.write(`${token}\n`);
  } finally {
    await database.close();
  }
  return null;
}

/** @throws {ConfigError} with the usage if the arguments are invalid */
function readTerms(args: readonly string[]): ApiKeyTerms {
  const { name, ...values } = readArguments(args);
  const given = listOf(values.scopes ?? '');
  const unknown = given.find((scope) => !isScope(scope));
  if (name === undefined || name === '' || given.length === 0 || unknown !== undefined)
    throw new ConfigError(unknown === undefined ? usage : `There is no scope "${unknown}". ${usage}`);
  const expiresAt = values.expires === undefined ? null : parseTypedTime(values.expires);
  if (expiresAt === undefined) throw new ConfigError(`--expires is not a valid date. ${usage}`);
  const queues = listOf(values.queues ?? '');
  return {
    name,
    scopes: given.filter(isScope),
    queues: queues.length === 0 ? null : queues,
    expiresAt,
  };
}

function readArguments(args: readonly string[]) {
  const text = { type: 'string' } as const;
  try {
    return parseArgs({ args: [...args], options: { name: text, scopes: text, queues: text, expires: text } })
      .values;
  } catch (error) {
    throw new ConfigError(`${(error as Error).message} ${usage}`);
  }
}

function isScope(text: string): text is Scope {
  return (scopes as readonly string[]).includes(text);
}
