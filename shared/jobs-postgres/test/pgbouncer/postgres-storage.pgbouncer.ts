import { describeStorage } from '@longshore/jobs/conformance';
import { createTestDatabase } from '@longshore/test-support';
import { postgresUnderTest } from '../support/postgres-under-test.js';
import { startPgBouncer } from './pgbouncer.js';

describeStorage('Postgres behind pgbouncer in transaction mode', async () => {
  const database = await createTestDatabase();
  const pooler = await startPgBouncer(database.url);
  const subject = await postgresUnderTest(database, {
    url: pooler.urlOf(database.url),
    directUrl: database.url,
    pooler: 'transaction',
  });
  const close = async (): Promise<void> => {
    await subject.storage.close();
    await pooler.stop();
    await database.drop();
  };
  return { ...subject, close };
});
