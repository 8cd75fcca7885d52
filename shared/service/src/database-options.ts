import type { RetentionDays } from '@longshore/jobs/storage';
import Type from 'typebox';
import type { Config } from './config.js';
import { databaseVariables } from './variables.js';

const variables = Type.Object(databaseVariables);

/** The options of a Postgres job storage, as the environment describes it. */
export function databaseOptions(config: Config<typeof variables>, applicationName: string) {
  return {
    url: config.DATABASE_URL,
    pooler: config.DATABASE_POOLER,
    ...(config.DATABASE_DIRECT_URL !== undefined && { directUrl: config.DATABASE_DIRECT_URL }),
    poolSize: config.DATABASE_POOL_SIZE,
    maxQueues: config.MAX_QUEUES,
    readPoolSize: config.DATABASE_READ_POOL_SIZE,
    readTimeoutMs: config.DATABASE_READ_TIMEOUT_MS,
    commandBatchMaxTimeoutMs: config.COMMAND_BATCH_MAX_TIMEOUT_MS,
    transactionIdleTimeoutMs: config.TRANSACTION_IDLE_TIMEOUT_MS,
    useRecommendedIsolationLevel: config.USE_RECOMMENDED_ISOLATION_LEVEL,
    disableGlobalLocks: config.DISABLE_GLOBAL_LOCKS,
    retentionDays: retentionDays(config),
    applicationName: `longshore ${applicationName}`,
  };
}

/** How long finished jobs are kept, in whatever storage. */
export function retentionDays(
  config: Pick<
    Config<typeof variables>,
    'RETENTION_DONE_DAYS' | 'RETENTION_FAILED_DAYS' | 'RETENTION_CANCELLED_DAYS'
  >,
): RetentionDays {
  return {
    done: config.RETENTION_DONE_DAYS,
    failed: config.RETENTION_FAILED_DAYS,
    cancelled: config.RETENTION_CANCELLED_DAYS,
  };
}
