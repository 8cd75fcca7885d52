import Type from 'typebox';
import type { Config } from './config.js';
import { refusals } from './refusals.js';
import { configuredOptions, databaseVariables } from './variables.js';

const variables = Type.Object({
  ...databaseVariables,
  DATABASE_URL: Type.Optional(databaseVariables.DATABASE_URL),
});

type Options = ReturnType<typeof configuredOptions>;

/** Stands for a URL that is missing or invalid, which reading the configuration reports. */
const someUrl = 'postgres://localhost/longshore';

/**
 * Returns what the storage refuses of its options, see {@link refusals}.
 *
 * @param create creates a storage
 */
export function databaseProblems(
  config: Config<typeof variables>,
  create: (options: Partial<Options> & { readonly url: string }) => unknown,
): string[] {
  const options = configuredOptions({ ...config, DATABASE_URL: config.DATABASE_URL ?? someUrl });
  return refusals(options, optionVariables, (some) => create({ url: someUrl, ...some }));
}

const optionVariables: Readonly<Record<keyof Options, string>> = {
  url: 'DATABASE_URL',
  schema: 'DATABASE_SCHEMA',
  pooler: 'DATABASE_POOLER',
  distribution: 'DATABASE_DISTRIBUTION',
  directUrl: 'DATABASE_DIRECT_URL',
  searchUrl: 'DATABASE_SEARCH_URL',
  searchMaxLagMs: 'DATABASE_SEARCH_MAX_LAG_MS',
  migrate: 'DATABASE_MIGRATE',
  start: 'LONGSHORE_START',
  poolSize: 'DATABASE_POOL_SIZE',
  maxQueues: 'DATABASE_MAX_QUEUES',
  readPoolSize: 'DATABASE_READ_POOL_SIZE',
  connectTimeoutMs: 'DATABASE_CONNECT_TIMEOUT_MS',
  silenceTimeoutMs: 'DATABASE_SILENCE_TIMEOUT_MS',
  readTimeoutMs: 'DATABASE_READ_TIMEOUT_MS',
  commandBatchMaxTimeoutMs: 'DATABASE_COMMAND_BATCH_MAX_TIMEOUT_MS',
  transactionIdleTimeoutMs: 'DATABASE_TRANSACTION_IDLE_TIMEOUT_MS',
  useRecommendedIsolationLevel: 'DATABASE_USE_RECOMMENDED_ISOLATION_LEVEL',
  disableGlobalLocks: 'DATABASE_DISABLE_GLOBAL_LOCKS',
  retentionDays: 'DATABASE_RETENTION_DONE_DAYS',
};
