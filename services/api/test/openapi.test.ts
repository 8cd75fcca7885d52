import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import { JobClient, JobEvents, MemoryStorage } from '@longshore/jobs';
import { createApplicationDatabase } from '@longshore/jobs-postgres';
import { createLogger, loadApplication } from '@longshore/service';
import { compileClient, serve, spectralFindings, type TestServer } from '@longshore/test-support';
import { expect } from 'chai';
import Koa from 'koa';
import createClient from 'openapi-fetch';
import { createAccess } from '../src/access/access.js';
import { readApiConfig } from '../src/config.js';
import { resourceApi } from '../src/resource-api.js';

/** A client as a caller would write it, of jobs and of the application's resources. */
const source = `
  import type { Client } from 'openapi-fetch';
  import type { paths } from './schema.js';
  export async function enqueueAndList(api: Client<paths>): Promise<{ state: string | undefined; names: string[] }> {
    const made = await api.POST('/jobs', { body: { name: 'test', args: { waitMs: 1 } } });
    const listed = await api.GET('/jobs', { params: { query: { state: ['enqueued'], limit: 5 } } });
    if (false as boolean) {
      const orders = await api.GET('/orders', { params: { query: { sort: ['-total'], minTotal: 3 } } });
      const total: number | undefined = orders.data?.[0]?.total;
      await api.PUT('/orders/{orderId}/refund', { params: { path: { orderId: String(total) } } });
    }
    if (made.data === undefined || Array.isArray(made.data)) throw new Error(JSON.stringify(made.error));
    return { state: made.data.state, names: (listed.data ?? []).map(({ name }) => name) };
  }`;

const adminKey = 'a-key-that-only-this-test-knows-of';

describe('The OpenAPI document of the api', () => {
  const storage = new MemoryStorage();
  let server: TestServer;
  let text: string;

  before(async () => {
    // The database is named but never asked: the document and the jobs in memory need none.
    const url = 'postgres://nobody@127.0.0.1:1/none';
    const config = readApiConfig({
      DATABASE_URL: url,
      BASE_URL: 'https://api.longshore.dev',
      API_AUTH: 'keys,jwt',
      API_ADMIN_KEY: adminKey,
      JWT_ISSUER: 'https://issuer.longshore.dev',
      JWT_AUDIENCE: 'longshore',
      JWT_JWKS_URL: 'https://issuer.longshore.dev/keys',
    });
    const logger = createLogger('api', 'silent');
    const database = createApplicationDatabase({ url });
    const app = new Koa();
    app.use(
      resourceApi({
        storage,
        database,
        client: new JobClient(storage),
        events: new JobEvents(storage),
        application: await loadApplication('@longshore/example-shop'),
        config,
        access: createAccess(config, database, logger),
        logger,
      }),
    );
    const handle = app.callback();
    server = await serve((request, response) => void handle(request, response));
    text = await (await fetch(`${server.url}/api/v1/openapi.json`)).text();
  });
  after(async () => {
    await server.close();
    await storage.close();
  });

  it('holds the resources of the jobs and of the application', () => {
    const { paths } = JSON.parse(text) as { paths: object };
    expect(paths).to.include.keys(
      '/jobs',
      '/queues',
      '/servers',
      '/orders',
      '/customers',
      '/orders/{orderId}/refund',
    );
  });

  it('is valid OpenAPI 3.1', async () => {
    const { errors } = await new Validator().validate(JSON.parse(text) as Record<string, unknown>);
    expect(errors).to.equal(undefined);
  });

  it('passes Redocly’s strict rules', async () => {
    // `/orders/search/{keyword}` beside `/orders/{orderId}/cancel`: an item cannot have the id `search`.
    const rules = { 'no-ambiguous-paths': 'off' as const };
    const config = await createConfig({ extends: ['recommended-strict'], rules });
    const problems = await lintFromString({ source: text, config });
    const found = problems.map(
      ({ ruleId, message, location }) => `${ruleId} ${message} ${location[0]?.pointer}`,
    );
    expect(found).to.deep.equal([]);
  }).timeout(60_000);

  it('passes Spectral’s OpenAPI and OWASP rules', async () => {
    expect(await spectralFindings(text)).to.deep.equal([]);
  }).timeout(120_000);

  it('compiles to a client that works', async () => {
    const compiled = await compileClient(JSON.parse(text) as object, source);
    expect(compiled.problems).to.deep.equal([]);
    const { enqueueAndList } = await compiled.load();
    const result = await enqueueAndList?.(
      createClient({ baseUrl: `${server.url}/api/v1`, headers: { authorization: `Bearer ${adminKey}` } }),
    );
    expect(result).to.deep.equal({ state: 'enqueued', names: ['test'] });
  }).timeout(60_000);
});
