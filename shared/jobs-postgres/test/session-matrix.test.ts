import { describeStorage } from '@longshore/jobs-storage-tests';
import { createOddDatabase } from './support/odd-session.js';
import { postgresUnderTest } from './support/postgres-under-test.js';

describeStorage('Postgres on a database with odd settings', async () =>
  postgresUnderTest(await createOddDatabase()),
);
