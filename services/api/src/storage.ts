import { type JobStorage, MemoryStorage } from '@longshore/jobs';
import {
  type ApplicationDatabase,
  createApplicationDatabase,
  type Migrations,
  PostgresStorage,
} from '@longshore/jobs-postgres';
import { MemoryDatabase } from '@longshore/memory-database';
import { inTransaction } from '@longshore/resources';
import { databaseOptions, retentionDays } from '@longshore/service';
import type { ApiConfig } from './config.js';

/** The migrations of the API's own tables. */
export const apiMigrations: Migrations = {
  directory: new URL('../migrations', import.meta.url),
  schema: 'longshore_api',
};

/** The storage of jobs, and the database of the application's tables. */
export type Storage =
  | { readonly kind: 'postgres'; readonly jobs: JobStorage; readonly application: ApplicationDatabase }
  | { readonly kind: 'memory'; readonly jobs: JobStorage; readonly application: MemoryDatabase };

/** Creates the storage: in memory if so configured, otherwise in Postgres. */
export function createStorage({ DATABASE_URL, ...config }: ApiConfig): Storage {
  if (config.API_STORAGE === 'memory' || DATABASE_URL === undefined) {
    const application = new MemoryDatabase();
    const jobs = new MemoryStorage({
      retentionDays: retentionDays(config),
      maxQueues: config.DATABASE_MAX_QUEUES,
      transaction: (work) => inTransaction(application, work),
    });
    return { kind: 'memory', jobs, application };
  }
  const options = databaseOptions({ ...config, DATABASE_URL }, 'api');
  return {
    kind: 'postgres',
    jobs: new PostgresStorage(options),
    application: createApplicationDatabase(options),
  };
}
