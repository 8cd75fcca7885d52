import { readFile } from 'node:fs/promises';
import { request } from 'node:http';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { house } from '../house/house.js';
import { freePort, type Service, startService } from '../system/service.js';
import { type Nginx, startNginx } from './nginx.js';

const page = await readFile(path.join(house, 'docs/operations.md'), 'utf8');
const [, settings = ''] = /^```nginx\n(.*?)^```$/ms.exec(page) ?? [];

/**
 * The documented nginx settings, and a variant. The documented settings keep the prefix. In the variant, `proxy_pass`
 * contains a path, so nginx removes the prefix.
 */
const ways = {
  'keeps the prefix': (api: string) => settings.replaceAll('http://127.0.0.1:8080', api),
  'takes the prefix away': (api: string) =>
    settings.replaceAll(
      /(location \/platform(\/\w+\/)[^}]*?)http:\/\/127\.0\.0\.1:8080/g,
      (_, before: string, location: string) => `${before}${api}${location}`,
    ),
};

const hidden = [
  '/metrics',
  '/platform/metrics',
  '/platform/metrics/',
  '/platform/metrics/storage',
  '/platform/platform/metrics',
  '/platform//metrics',
  '/platform/%6detrics',
  '/platform/api/../metrics',
  '/platform/api/%2e%2e/metrics',
  '/platform/api/..%2fmetrics',
  '/platform/api/..%2f..%2fmetrics',
  '/platform/api/%252e%252e/metrics',
  '/platform/errors/..//metrics',
  '/platform/api/..;/metrics',
  '/platform/api\\..\\metrics',
  '/platform/readyz',
  '/platform/test',
];

for (const [way, locations] of Object.entries(ways)) {
  describe(`A gateway that ${way} and lists what is public`, () => {
    let api: Service | undefined;
    let nginx: Nginx | undefined;
    let port: number;

    before(async () => {
      port = await freePort();
      const places = { API_BASE_URL: `http://127.0.0.1:${port}`, API_PATH_PREFIX: '/platform' };
      api = await startService('api', { API_STORAGE: 'memory', API_AUTH: 'none', ...places });
      nginx = await startNginx(port, locations(api.url));
    });
    after(async () => {
      await nginx?.stop();
      await api?.end('SIGKILL');
    });

    /** Requests a path exactly as given; `fetch` would normalize it. */
    const statusAndBody = (target: string): Promise<[number, string]> =>
      new Promise((resolve, reject) => {
        request({ host: '127.0.0.1', port, path: target, agent: false }, (response) => {
          text(response).then((body) => resolve([response.statusCode ?? 0, body]), reject);
        })
          .on('error', reject)
          .end();
      });

    for (const path of ['/platform/api/v1/jobs', '/platform/errors/40401']) {
      it(`serves ${path}`, async () => {
        expect((await statusAndBody(path))[0]).to.equal(200);
      });
    }

    for (const path of hidden) {
      it(`hides ${path}`, async () => {
        const [status, body] = await statusAndBody(path);
        expect([status >= 400, body.includes('# HELP')]).to.deep.equal([true, false]);
      });
    }
  });
}
