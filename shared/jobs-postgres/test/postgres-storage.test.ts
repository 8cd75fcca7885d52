import { describeStorage } from '@longshore/jobs-storage-tests';
import { postgresUnderTest } from './support/postgres-under-test.js';
import { createStoreDatabase } from './support/store-database.js';

describeStorage('Postgres', async () => postgresUnderTest(await createStoreDatabase()));
