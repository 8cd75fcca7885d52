import { describeStorage } from '@longshore/jobs/conformance';
import { createTestDatabase } from '@longshore/test-support';
import { postgresUnderTest } from './support/postgres-under-test.js';

describeStorage('Postgres', async () => postgresUnderTest(await createTestDatabase()));
