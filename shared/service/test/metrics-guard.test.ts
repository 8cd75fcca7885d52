import { request } from 'node:http';
import { expect } from 'chai';
import Koa from 'koa';
import { serve, type TestServer } from '@longshore/test-support';
import { metricsGuard } from '../src/index.js';

describe('The metrics of a service', () => {
  let server: TestServer;

  before(async () => {
    const app = new Koa();
    app.use(metricsGuard('metrics.internal, worker'));
    app.use((context) => {
      context.body = 'numbers';
    });
    const handle = app.callback();
    server = await serve((incoming, response) => void handle(incoming, response));
  });
  after(() => server.close());

  const status = (host: string, path = '/metrics'): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      request(new URL(path, server.url), { headers: { host } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on('error', reject)
        .end();
    });

  for (const host of [
    'localhost',
    'LOCALHOST:9',
    '127.0.0.1:8082',
    '10.1.2.3',
    '[::1]:8082',
    'Worker:80',
    'metrics.internal',
  ])
    it(`are served to the host ${host}`, async () => expect(await status(host)).to.equal(200));

  for (const host of [
    'evil.example',
    'evil.example:8082',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
  ])
    it(`are hidden from the host ${host}`, async () => expect(await status(host)).to.equal(421));

  it('are all that depends on the host name', async () => {
    expect(await status('any.example', '/healthz')).to.equal(200);
  });
});
