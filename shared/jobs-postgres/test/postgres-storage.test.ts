import { describeStorage } from '@longshore/jobs/conformance';
import { postgresUnderTest } from './support/postgres-under-test.js';
import { createStoreDatabase } from './support/store-database.js';

describeStorage('Postgres', async () => postgresUnderTest(await createStoreDatabase()));
