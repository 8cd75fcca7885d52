import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { freePort, type Service, startService } from '../system/service.js';
import { type Nginx, startNginx } from './nginx.js';

/** The locations of docs/operations.md. */
const ways = {
  'keeps the prefix': (api: string) => `
    location /platform/api/ { proxy_pass ${api}; }
    location /platform/errors/ { proxy_pass ${api}; }`,
  'takes the prefix away': (api: string) => `
    location /platform/api/ { proxy_pass ${api}/api/; }
    location /platform/errors/ { proxy_pass ${api}/errors/; }`,
};

const hidden = [
  '/metrics',
  '/platform/metrics',
  '/platform/metrics/',
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
  describe(`A gateway that ${way} and lists what is public`, function () {
    this.timeout(60_000);
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

    /** Sends the path unchanged; fetch would normalize it. */
    const statusAndBody = (path: string): Promise<[number, string]> =>
      new Promise((resolve, reject) => {
        request({ host: '127.0.0.1', port, path, agent: false }, (response) => {
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
