import { createTestDatabase, patientStorage, type TestDatabase } from '@longshore/test-support';
import { PostgresStorage } from '../../src/index.js';

/**
 * Creates a database with the store's tables. Clones a template, because a migration would take three times as long.
 */
export function createStoreDatabase(): Promise<TestDatabase> {
  return createTestDatabase(migrate);
}

async function migrate(url: string): Promise<void> {
  const storage = new PostgresStorage({ url, ...patientStorage });
  await storage.open();
  await storage.close();
}
