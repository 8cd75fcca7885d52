import { describeStorage } from '@longshore/jobs-storage-tests';
import { postgresUnderTest } from '../support/postgres-under-test.js';
import { createOddDatabase } from '../support/odd-session.js';
import { startPgBouncer } from './pgbouncer.js';

// The schema name is a reserved word, so a statement that does not quote it fails.
describeStorage(
  'Postgres with odd settings behind pgbouncer in transaction mode, in the schema "order",',
  async () => {
    const database = await createOddDatabase();
    const pooler = await startPgBouncer(database.url);
    const subject = await postgresUnderTest(database, {
      url: pooler.urlOf(database.url),
      directUrl: database.url,
      pooler: 'transaction',
      schema: 'order',
    });
    const close = async (): Promise<void> => {
      await subject.storage.close();
      await pooler.stop();
      await database.drop();
    };
    return { ...subject, close };
  },
);
