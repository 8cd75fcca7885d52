import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { house } from '../house/house.js';
import { freePort, launchService, type Service, untilReady } from '../system/service.js';
import { useSystem } from '../system/system.js';
import { type Nginx, startNginx } from './nginx.js';
import { SteadyLoad } from './steady-load.js';

const restarts = Number(process.env['RESTARTS'] ?? '4');
const requestsPerSecond = Number(process.env['RATE'] ?? '100');

const page = await readFile(path.join(house, 'docs/deploying.md'), 'utf8');
const [upstreams = '', locations = ''] = [...page.matchAll(/^```nginx\n(.*?)^```$/gms)].map(
  ([, block = '']) => block,
);

describe('Two apis behind nginx, as docs/deploying.md has it', () => {
  const system = useSystem();
  const ports: number[] = [];
  const apis: Service[] = [];
  let nginx: Nginx | undefined;
  let port: number;

  const launch = async (at: number): Promise<Service> => {
    const url = `http://127.0.0.1:${at}`;
    const launched = await launchService('api', {
      API_STORAGE: 'postgres',
      API_AUTH: 'none',
      API_BASE_URL: `http://127.0.0.1:${port}`,
      DATABASE_URL: system().postgres.url,
      HTTP_DRAIN_MS: '500',
      HTTP_TRUSTED_PROXIES: '1',
      LOG_LEVEL: 'warn',
      PORT: String(at),
    });
    return untilReady({ ...launched, url });
  };

  before(async () => {
    port = await freePort();
    ports.push(await freePort(), await freePort());
    for (const at of ports) apis.push(await launch(at));
    const [first, second] = ports;
    nginx = await startNginx(
      port,
      locations,
      upstreams.replace(':8080', `:${first}`).replace(':8090', `:${second}`),
    );
  });
  after(async () => {
    await nginx?.stop();
    await Promise.all(apis.map((api) => api.end('SIGKILL')));
  });

  it(`answer every request while they are restarted in turn, ${restarts} times`, async () => {
    const load = new SteadyLoad(port, requestsPerSecond);
    for (let n = 0; n < restarts; n++) {
      expect(await apis[n % 2]?.end('SIGTERM'), apis[n % 2]?.lines.join('\n')).to.equal('exit 0');
      apis[n % 2] = await launch(ports[n % 2] ?? 0);
    }
    await load.stop();
    console.log(`      ${load.answered} requests answered, ${load.failures.length} failed`);
    expect(load.failures).to.deep.equal([]);
  });
});
