import { type JobStorage, MemoryStorage } from '@longshore/jobs';
import {
  type ApplicationDatabase,
  createApplicationDatabase,
  type Migrations,
  PostgresStorage,
} from '@longshore/jobs-postgres';
import { databaseOptions, retentionDays } from '@longshore/service';
import type { ApiConfig } from './config.js';

/** The api's own tables. */
export const apiMigrations: Migrations = {
  directory: new URL('../migrations', import.meta.url),
  schema: 'longshore_api',
};

/** The storage of jobs and of the application's rows. */
export interface Storage {
  readonly jobs: JobStorage;
  /** `null` if everything is kept in memory. */
  readonly application: ApplicationDatabase | null;
}

/** Creates the Postgres storage, or the memory storage if the configuration asks for it. */
export function createStorage({ DATABASE_URL, ...config }: ApiConfig): Storage {
  if (config.API_STORAGE === 'memory' || DATABASE_URL === undefined) {
    return {
      jobs: new MemoryStorage({
        retentionDays: retentionDays(config),
        maxQueues: config.DATABASE_MAX_QUEUES,
      }),
      application: null,
    };
  }
  const options = databaseOptions({ ...config, DATABASE_URL }, 'api');
  return { jobs: new PostgresStorage(options), application: createApplicationDatabase(options) };
}
