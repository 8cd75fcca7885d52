import { expect } from 'chai';
import { eventually } from '../system/eventually.js';
import { getJob, getJson, postTest } from '../system/jobs.js';
import { api, compose, dashboard, gateway } from './compose.js';
import { signIn } from './sign-in.js';

const services = ['api', 'worker', 'dashboard'];

describe('docker compose', () => {
  before(async function () {
    this.timeout(600_000);
    await compose('down', '--volumes', '--remove-orphans');
    await compose('up', '--build', '--wait', ...services, 'gateway');
  });
  after(async function () {
    this.timeout(120_000);
    await compose('down', '--volumes');
  });

  it('answers the first curl, and the job is done with its result', async () => {
    const { status, body, location } = await postTest(api);
    expect([status, body]).to.deep.equal([202, 'ok']);
    const done = await eventually(async () => {
      const job = await getJob(location);
      return job.state === 'done' ? job : null;
    });
    expect(done?.result).to.have.property('waitedMs', 2_000);
  });

  it('keeps the result file on a volume that the worker may write', async () => {
    const files = await compose('exec', 'worker', 'ls', '/var/lib/longshore/results');
    expect(files).to.match(/^test-\S+\.txt$/m);
  });

  it('shows nothing of the dashboard without the password', async () => {
    expect((await fetch(`${dashboard}/jobs`)).status).to.equal(401);
  });

  for (const address of [dashboard, `${gateway}/job-dashboard`]) {
    it(`shows the dashboard to who signs in at ${address}`, async () => {
      expect(await signIn(address, 'a wrong one')).to.not.include('Signed in as');
      expect(await signIn(address, 'longshore')).to.include('Signed in as');
    });
  }

  for (const service of services) {
    it(`runs ${service} as nobody special, without development packages, unable to change its own files`, async () => {
      const look =
        'id -u; ls node_modules node_modules/@longshore; touch package.json 2>/dev/null && echo writable';
      const seen = (await compose('exec', service, 'sh', '-c', `${look}; true`)).split('\n');
      expect(seen[0]).to.equal('1000');
      expect(seen).to.include('koa');
      expect(seen).to.not.include.oneOf([
        'typescript',
        'mocha',
        'oxlint',
        'test-support',
        'local-postgres',
        'writable',
      ]);
    });
  }

  it('logs JSON lines', async () => {
    const logs = await compose('logs', '--no-log-prefix', ...services);
    const lines = logs.split('\n').filter((line) => line !== '');
    const odd = lines.filter((line) => !line.startsWith('{'));
    expect(odd).to.deep.equal([]);
    for (const line of lines) expect(JSON.parse(line)).to.include.keys('level', 'time', 'msg', 'service');
  });

  it('serves the api behind the gateway too', async () => {
    expect((await postTest(gateway)).body).to.equal('ok');
  });

  it('runs three workers when asked to', async function () {
    this.timeout(60_000);
    await compose('up', '--wait', '--scale', 'worker=3', ...services);
    await eventually(async () => (await getJson<unknown[]>(`${api}/api/v1/servers`)).length === 3);
  });

  it('drains the workers when they are stopped', async function () {
    this.timeout(60_000);
    const { location } = await postTest(api);
    await eventually(async () => (await getJob(location)).state === 'processing');
    await compose('stop', 'worker');
    const { state, attempt } = await getJob(location);
    expect([state, attempt]).to.deep.equal(['done', 1]);
  });
});
