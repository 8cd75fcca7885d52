import { describeStorage } from '@longshore/jobs/conformance';
import { createTestDatabase } from '@longshore/test-support';
import { PostgresStorage } from '../src/index.js';

describeStorage('Postgres', async () => {
  const database = await createTestDatabase();
  const storage = new PostgresStorage({ url: database.url });
  await storage.open();
  return {
    storage,
    silence: async (serverId) => {
      await database.query(
        `update longshore.server set timeout_ms = 0, heartbeat_at = now() - interval '1 hour' where id = $1`,
        [serverId],
      );
    },
    setNextDue: async (id, at) => {
      await database.query('update longshore.recurring_job set next_due_at = $2 where id = $1', [id, at]);
    },
    close: async () => {
      await storage.close();
      await database.drop();
    },
  };
});
