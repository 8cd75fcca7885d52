import { type JobStorage, MemoryStorage } from '@longshore/jobs';
import { inTransaction } from '@longshore/resources';
import { MemoryDatabase } from '@longshore/resources/memory-database';
import { databaseOptions, type Logger, retentionDays } from '@longshore/service';
import {
  type ApplicationDatabase,
  createApplicationDatabase,
  type Migrations,
  PostgresStorage,
} from 'longshore';
import type { ApiConfig } from './config.js';

/** The API's own tables: the migrations that create them, and their qualified names. */
export interface ApiTables {
  readonly migrations: Migrations;
  readonly keys: string;
  readonly idempotencyRecords: string;
}

/** Returns the API's tables. Their schema is named after the job schema, with the suffix `_api`. */
export function apiTables({ DATABASE_SCHEMA }: Pick<ApiConfig, 'DATABASE_SCHEMA'>): ApiTables {
  const schema = `${DATABASE_SCHEMA}_api`;
  return {
    migrations: { directory: new URL('../migrations', import.meta.url), schema },
    keys: `${schema}.api_key`,
    idempotencyRecords: `${schema}.idempotency_record`,
  };
}

/** The job storage, and the database that holds the application's tables. */
export type Storage =
  | { readonly kind: 'postgres'; readonly jobs: JobStorage; readonly application: ApplicationDatabase }
  | { readonly kind: 'memory'; readonly jobs: JobStorage; readonly application: MemoryDatabase };

/** Creates the storage: in memory if `API_STORAGE` is `memory` or there is no `DATABASE_URL`, otherwise in Postgres. */
export function createStorage({ DATABASE_URL, ...config }: ApiConfig, logger: Logger): Storage {
  if (config.API_STORAGE === 'memory' || DATABASE_URL === undefined) {
    const application = new MemoryDatabase();
    const jobs = new MemoryStorage({
      retentionDays: retentionDays(config),
      maxQueues: config.DATABASE_MAX_QUEUES,
      transaction: (work) => inTransaction(application, work),
    });
    return { kind: 'memory', jobs, application };
  }
  const options = databaseOptions({ ...config, DATABASE_URL }, 'api', logger);
  return {
    kind: 'postgres',
    jobs: new PostgresStorage(options),
    application: createApplicationDatabase(options),
  };
}
