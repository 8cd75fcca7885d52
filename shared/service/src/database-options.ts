import type { RetentionDays } from '@longshore/jobs/storage';
import Type from 'typebox';
import type { Config } from './config.js';
import { databaseVariables } from './variables.js';

const variables = Type.Object(databaseVariables);

/** Converts environment variables to the options of `PostgresStorage`. */
export function databaseOptions(config: Config<typeof variables>, applicationName: string) {
  return {
    url: config.DATABASE_URL,
    schema: config.DATABASE_SCHEMA,
    pooler: config.DATABASE_POOLER,
    distribution: config.DATABASE_DISTRIBUTION,
    ...(config.DATABASE_DIRECT_URL !== undefined && { directUrl: config.DATABASE_DIRECT_URL }),
    ...(config.DATABASE_SEARCH_URL !== undefined && { searchUrl: config.DATABASE_SEARCH_URL }),
    poolSize: config.DATABASE_POOL_SIZE,
    maxQueues: config.DATABASE_MAX_QUEUES,
    readPoolSize: config.DATABASE_READ_POOL_SIZE,
    connectTimeoutMs: config.DATABASE_CONNECT_TIMEOUT_MS,
    silenceTimeoutMs: config.DATABASE_SILENCE_TIMEOUT_MS,
    readTimeoutMs: config.DATABASE_READ_TIMEOUT_MS,
    commandBatchMaxTimeoutMs: config.DATABASE_COMMAND_BATCH_MAX_TIMEOUT_MS,
    transactionIdleTimeoutMs: config.DATABASE_TRANSACTION_IDLE_TIMEOUT_MS,
    useRecommendedIsolationLevel: config.DATABASE_USE_RECOMMENDED_ISOLATION_LEVEL,
    disableGlobalLocks: config.DATABASE_DISABLE_GLOBAL_LOCKS,
    retentionDays: retentionDays(config),
    applicationName: `longshore ${applicationName}`,
  };
}

/** Returns how many days finished jobs are kept, by final state. */
export function retentionDays(
  config: Pick<
    Config<typeof variables>,
    'DATABASE_RETENTION_DONE_DAYS' | 'DATABASE_RETENTION_FAILED_DAYS' | 'DATABASE_RETENTION_CANCELLED_DAYS'
  >,
): RetentionDays {
  return {
    done: config.DATABASE_RETENTION_DONE_DAYS,
    failed: config.DATABASE_RETENTION_FAILED_DAYS,
    cancelled: config.DATABASE_RETENTION_CANCELLED_DAYS,
  };
}
