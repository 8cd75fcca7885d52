import type { StorageUnderTest } from '@longshore/jobs-storage-tests';
import { patientStorage, storeViolations, type TestDatabase } from '@longshore/test-support';
import { type PostgresOptions, PostgresStorage } from '../../src/index.js';

/** Opens a storage on `database` for the conformance suite. Its `close` also drops the database. */
export async function postgresUnderTest(
  database: TestDatabase,
  options: Partial<PostgresOptions> = {},
): Promise<StorageUnderTest> {
  const storage = new PostgresStorage({ url: database.url, ...patientStorage, ...options });
  await storage.open();
  const schema = options.schema ?? 'longshore';
  return {
    storage,
    silence: async (serverId) => {
      await database.query(
        `update "${schema}".server set timeout_ms = 0, heartbeat_at = now() - interval '1 hour' where id = $1`,
        [serverId],
      );
    },
    setNextDue: async (id, at) => {
      await database.query(`update "${schema}".recurring_job set next_due_at = $2 where id = $1`, [id, at]);
    },
    // Citus cannot run these queries.
    violations: async () =>
      options.distribution === 'citus' ? [] : storeViolations((sql) => database.query(sql), schema),
    close: async () => {
      await storage.close();
      await database.drop();
    },
  };
}
