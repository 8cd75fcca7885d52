import { type JobStorage, MemoryStorage } from '@longshore/jobs';
import { PostgresStorage } from '@longshore/jobs-postgres';
import { databaseOptions } from '@longshore/service';
import type { ApiConfig } from './config.js';

/** Postgres, unless everything is to stay in this process. */
export function createStorage({ DATABASE_URL, ...config }: ApiConfig): JobStorage {
  if (config.STORAGE === 'memory' || DATABASE_URL === undefined) return new MemoryStorage();
  return new PostgresStorage(databaseOptions({ ...config, DATABASE_URL }, 'api'));
}
