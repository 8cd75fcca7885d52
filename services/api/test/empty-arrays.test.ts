import { createTestDatabase, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import { adminKey, type RunningApi, runApi } from './support/running-api.js';

describe('An empty array', () => {
  let database: TestDatabase;
  let api: RunningApi;

  before(async () => {
    database = await createTestDatabase();
    api = await runApi({ API_STORAGE: 'postgres', DATABASE_URL: database.url });
    for (let tries = 0; tries < 600 && (await api.call('GET', '/readyz')).status !== 200; tries += 1);
  });
  after(async () => {
    await api.stop();
    await database.drop();
  });

  for (const method of ['POST', 'PUT']) {
    it(`is rejected in the same way by ${method} on jobs and on tables`, async () => {
      const answers = await Promise.all(
        ['/jobs', '/cars', '/orders'].map((path) =>
          api.call(method, `/api/v1${path}`, { token: adminKey, json: [] }),
        ),
      );
      const [first, ...others] = answers.map(({ status, text }) => ({ status, text }));
      expect(first?.status).to.equal(422);
      expect(others).to.deep.equal([first, first]);
    });
  }
});
