import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { createTestDatabase, eventually, httpClient } from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import { pino } from 'pino';
import { startApi } from '../src/api-service.js';
import { readApiConfig } from '../src/config.js';
import { adminKey } from './support/running-api.js';

/** Key of the advisory lock that node-pg-migrate takes so that only one process migrates at a time. */
const migrationLock = '7241865325823964';

async function freePort(): Promise<number> {
  const server = createServer().listen(0);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

describe('An API whose first migration has not ended', () => {
  it('responds with 503 and says what it waits for', async () => {
    const database = await createTestDatabase();
    const migrating = new pg.Client(database.url);
    await migrating.connect();
    await migrating.query('select pg_advisory_lock($1)', [migrationLock]);
    const port = await freePort();
    const config = readApiConfig({
      DATABASE_URL: database.url,
      PORT: String(port),
      API_AUTH: 'keys',
      API_ADMIN_KEY: adminKey,
      API_EMBEDDED_SERVER: 'false',
      LONGSHORE_APP: '@longshore/example-shop',
    });
    const starting = startApi(config, pino({ level: 'silent' }), new AbortController().signal);
    const client = httpClient(`http://127.0.0.1:${port}`);
    try {
      const request = (method: string, path: string): ReturnType<typeof client.request> =>
        client.request(method, path, { headers: { authorization: `Bearer ${adminKey}` } });
      await eventually(() => request('GET', '/healthz'));
      for (const [method, path] of [
        ['POST', '/test'],
        ['GET', '/api/v1/jobs'],
        ['GET', '/api/v1/queues'],
        ['GET', '/api/v1/customers'],
        ['GET', '/api/v1/api-keys'],
      ] as const) {
        const response = await request(method, path);
        expect([path, response.status, response.text]).to.deep.equal([path, 503, response.text]);
        expect(response.text, path).to.match(/do not exist/);
      }
    } finally {
      await migrating.end();
      await (await starting).stop();
      await database.drop();
    }
  });
});
