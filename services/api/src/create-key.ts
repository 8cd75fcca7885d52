import { parseArgs } from 'node:util';
import { parseTypedTime } from '@longshore/edge';
import { ApiKeyFields } from '@longshore/jobs/operations';
import { validatorFor } from '@longshore/resources';
import { ConfigError, listOf } from '@longshore/service';
import type { Static } from 'typebox';
import { newApiKey } from './access/api-key.js';
import { toTerms } from './access/api-keys-resource.js';
import { changeApiKey } from './access/api-key-operations.js';
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
  const body = readBody(args);
  const storage = createStorage(config);
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
