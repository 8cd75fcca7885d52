import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { eventually } from './system/eventually.js';
import { getJob, getJson, postTest } from './system/jobs.js';
import { run, type Running } from './system/process.js';
import { freePort } from './system/service.js';

interface Dev extends Running {
  /** All http addresses that it has printed. */
  readonly urls: string[];
  readonly api: string;
}

describe('make dev', function () {
  this.timeout(60_000);
  let data: string;
  let dev: Dev;
  const started: Running[] = [];

  const start = async (env: Readonly<Record<string, string>> = {}): Promise<Dev> => {
    const running = run('dev/dist/main.js', [], { DATA_DIR: data, API_TEST_JOB_MS: '100', ...env });
    started.push(running);
    const hint = await eventually(async () => {
      if (running.ending() !== null) return running.lines.join('\n');
      return Promise.resolve(running.lines.find((line) => line.includes('curl -X POST')));
    }, 40_000);
    const urls = running.lines.join('\n').match(/^ +(API|Dashboard|Worker) +http\S+/gm) ?? [];
    const api = /POST (http:\/\/localhost:\d+)\/test/.exec(hint ?? '')?.[1];
    if (api === undefined) throw new Error(`make dev did not start:\n${hint}`);
    return { ...running, api, urls: urls.map((line) => line.trim().split(/ +/)[1] ?? '') };
  };
  const isServed = (url: string): Promise<boolean> =>
    fetch(url).then(
      () => true,
      () => false,
    );

  before(async () => {
    data = await mkdtemp(path.join(tmpdir(), 'longshore-dev-'));
  });
  afterEach(() => Promise.all(started.splice(0).map((running) => running.end('SIGKILL'))));
  after(() => rm(data, { recursive: true, force: true }));

  it('prints addresses that respond, and its first curl works', async () => {
    dev = await start();
    expect(await Promise.all(dev.urls.map(isServed))).to.deep.equal([true, true, true]);
    expect((await postTest(dev.api)).body).to.equal('ok');
  });

  it('stops everything within 5 s of Ctrl-C, and leaves no process', async () => {
    dev = await start();
    const stoppedAt = performance.now();
    expect(await dev.end('SIGINT')).to.equal('exit 0');
    expect(performance.now() - stoppedAt).to.be.lessThan(5_000);
    expect(await Promise.all(dev.urls.map(isServed))).to.deep.equal([false, false, false]);
  });

  it('keeps the data for the next start', async () => {
    dev = await start();
    const { location } = await postTest(dev.api);
    await dev.end('SIGINT');
    dev = await start();
    const { pathname } = new URL(location);
    expect(await getJob(dev.api + pathname)).to.have.property('name', 'test');
  });

  it('restarts a worker that is killed, and its job runs again', async () => {
    dev = await start({ API_TEST_JOB_MS: '3000', WORKER_SERVER_TIMEOUT_MS: '5000' });
    const { location } = await postTest(dev.api);
    const { pathname } = new URL(location);
    await eventually(async () => (await getJob(dev.api + pathname)).state === 'processing');
    const servers = await getJson<{ pid: number; startedAt: string }[]>(`${dev.api}/api/v1/servers`);
    const newest = servers.toSorted((a, b) => a.startedAt.localeCompare(b.startedAt)).at(-1);
    process.kill(newest?.pid ?? 0, 'SIGKILL');
    const done = await eventually(async () => {
      const job = await getJob(dev.api + pathname);
      return job.state === 'done' ? job : null;
    }, 40_000);
    expect(done).to.have.property('attempt', 2);
    expect(dev.lines.join('\n')).to.include('worker ended by itself: SIGKILL; restarting it');
  });

  it('reports at once that another one is running', async () => {
    dev = await start();
    const second = run('dev/dist/main.js', [], { DATA_DIR: data });
    started.push(second);
    expect(await second.ended).to.equal('exit 1');
    expect(second.lines.join('\n')).to.include(`It is already running (process ${dev.pid})`);
  });

  it('uses the ports of PORT_API, PORT_DASHBOARD and PORT_WORKER', async () => {
    const ports = await Promise.all([freePort(), freePort(), freePort()]);
    const [PORT_API, PORT_DASHBOARD, PORT_WORKER] = ports.map(String) as [string, string, string];
    dev = await start({ PORT_API, PORT_DASHBOARD, PORT_WORKER });
    expect(dev.urls.map((url) => Number(new URL(url).port))).to.deep.equal(ports);
  });

  it('runs everything in one process with API_STORAGE=memory', async () => {
    dev = await start({ API_STORAGE: 'memory' });
    const { location } = await postTest(dev.api);
    await eventually(async () => (await getJob(location)).state === 'done');
    expect(await Promise.all(dev.urls.map(isServed))).to.deep.equal([true, true]);
  });
});
