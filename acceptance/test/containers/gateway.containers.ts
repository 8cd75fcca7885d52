import { expect } from 'chai';
import { postTest } from '../system/jobs.js';
import { api, composeGateway, credentials, dashboard, gateway, inspect, password, up } from './compose.js';
import { signIn } from './sign-in.js';

describe('docker compose with the gateway', () => {
  before(async function () {
    this.timeout(3_600_000);
    await composeGateway('down', '--volumes', '--remove-orphans');
    await up(composeGateway);
  });
  after(async () => {
    await composeGateway('down', '--volumes');
  });

  it('serves the api with links that lead back to the gateway', async () => {
    const { status, location } = await postTest(gateway, credentials);
    expect([status, location.startsWith(`${gateway}/api/v1/jobs/`)]).to.deep.equal([202, true]);
  });

  it('is healthy by a check of its own', async () => {
    expect((await inspect('gateway')).State.Health.Status).to.equal('healthy');
  });

  it('serves the reference and the error pages', async () => {
    for (const path of ['/api/v1/docs', '/errors/40401', '/healthz'])
      expect([path, (await fetch(gateway + path)).status]).to.deep.equal([path, 200]);
  });

  it('is the only way in', async () => {
    for (const address of [`${api}/healthz`, dashboard])
      expect(await fetch(address).catch(() => 'closed')).to.equal('closed');
    const { PortBindings } = (await inspect('gateway')).HostConfig;
    expect(Object.values(PortBindings).flatMap((ports) => ports.map(({ HostIp }) => HostIp))).to.deep.equal([
      '127.0.0.1',
    ]);
  });

  for (const path of ['/metrics', '/readyz', '/', '/nothing']) {
    it(`does not expose ${path}`, async () => {
      expect((await fetch(gateway + path)).status).to.equal(404);
    });
  }

  it('does not expose /metrics, however it is spelled', async () => {
    // Sent with `node:http`, because fetch would normalize the path.
    const spellings = [
      '/healthz', // the only public path, so the only one that may succeed
      '/metrics/',
      '/METRICS',
      '//metrics',
      '/%6detrics',
      '/metrics%2f',
      '/api/../metrics',
      '/api/%2e%2e/metrics',
      '/api/..%2fmetrics',
      '/api//../metrics',
      '/errors/..//metrics',
      '/test/../metrics',
      '/job-dashboard/../metrics',
      '/job-dashboard/..%2fmetrics',
      '/job-dashboard%2f..%2fmetrics',
      '/metrics?a',
      'http://localhost/metrics',
    ];
    const seen = await composeGateway(
      'exec',
      'worker',
      'node',
      '-e',
      `const { request } = require('node:http');
       for (const path of ${JSON.stringify(spellings)})
         request({ host: 'gateway', port: 8000, path, agent: false }, async (response) => {
           const text = (await response.toArray()).join('');
           if (text.includes('# HELP') || response.statusCode < 400) console.log(path, response.statusCode);
         }).end();`,
    );
    expect(seen.trim()).to.equal('/healthz 200');
  });

  it('is restricted', async () => {
    const { Config, HostConfig } = await inspect('gateway');
    expect(Config.User).to.equal('65534:65534');
    expect([HostConfig.ReadonlyRootfs, HostConfig.CapDrop, HostConfig.CapAdd ?? []]).to.deep.equal([
      true,
      ['ALL'],
      [],
    ]);
    expect(HostConfig.Memory).to.be.within(1, 2 ** 30);
    expect(HostConfig.PidsLimit).to.be.within(1, 512);
  });

  it('cannot reach the database', async () => {
    const reach = (address: string): Promise<boolean> =>
      composeGateway('exec', 'gateway', 'bash', '-c', `exec 3<>/dev/tcp/${address}`).then(
        () => true,
        () => false,
      );
    expect([await reach('api/8080'), await reach('postgres/5432')]).to.deep.equal([true, false]);
  });

  it('does not let a client who guesses passwords lock out others, or impersonate them', async () => {
    const guess = `
      const statusWith = async (password, from) =>
        (await fetch('http://gateway:8000/job-dashboard/', {
          headers: { authorization: 'Basic ' + btoa('x:' + password), 'x-forwarded-for': from },
        })).status;
      // Repeated, because failures count for a minute, and a slow machine may check too few passwords in a minute.
      for (let status = 0, round = 0; status !== 429 && round < 10; round += 1) {
        for (let n = 0; n < 120; n += 1) await statusWith('wrong ' + n, '192.0.2.' + n);
        status = await statusWith('${password}', '198.51.100.1');
        console.log(status);
      }`;
    const statuses = await composeGateway('exec', 'worker', 'node', '--input-type=module', '-e', guess);
    expect(statuses.trim().split('\n').at(-1)).to.equal('429');
    expect(await signIn(`${gateway}/job-dashboard`, password)).to.include('Signed in as');
  });
});
