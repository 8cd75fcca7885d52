import { describeStorage } from '@longshore/jobs-storage-tests';
import { createCitusDatabase } from '@longshore/test-support';
import { postgresUnderTest } from '../support/postgres-under-test.js';

describeStorage('Postgres on Citus', async () =>
  postgresUnderTest(await createCitusDatabase(), { distribution: 'citus' }),
);
