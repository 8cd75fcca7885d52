import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import pg from 'pg';
import { commandsIn, ConsoleSession } from './docs/console-session.js';
import { house } from './house/house.js';
import { eventually } from '@longshore/test-support';
import { getJob, getJson, postTest } from './system/jobs.js';
import { run, type Running } from './system/process.js';
import { freePort, patience } from './system/service.js';

interface Dev extends Running {
  /** The HTTP addresses that `make dev` printed for its services. */
  readonly urls: string[];
  readonly api: string;
  /** The URL of the database. */
  readonly database: string;
}

describe('make dev', () => {
  let parent: string;
  let data: string;
  let dev: Dev;
  /** Path of a job that one test finds and a later test reads. */
  let job: string;
  const started: Running[] = [];

  const start = async (env: Readonly<Record<string, string>> = {}): Promise<Dev> => {
    const own = { ...patience, DATA_DIR: data, API_TEST_JOB_MS: '100' };
    const running = run('dev/dist/main.js', [], { ...own, ...env });
    started.push(running);
    const hasStarted = (text: string): boolean => text.includes('curl -X POST');
    const text = await eventually(
      () => running.lines.join('\n'),
      (seen) => hasStarted(seen) || running.ending() !== null,
    );
    if (!hasStarted(text)) throw new Error(`make dev did not start:\n${text}`);
    const urls = text.match(/^ +(API|Dashboard|Worker) +http\S+/gm) ?? [];
    return {
      ...running,
      api: /POST (http:\/\/localhost:\d+)\/test/.exec(text)?.[1] ?? '',
      database: /postgres:\/\/\S+/.exec(text)?.[0] ?? '',
      urls: urls.map((line) => line.trim().split(/ +/)[1] ?? ''),
    };
  };
  const isServed = (url: string): Promise<boolean> =>
    fetch(url).then(
      () => true,
      () => false,
    );

  before(async () => {
    parent = await mkdtemp(path.join(tmpdir(), 'longshore-dev-'));
    data = path.join(parent, '.data');
    dev = await start({ API_TEST_JOB_MS: '3600000' });
  });
  after(async () => {
    await Promise.all(started.map((running) => running.end('SIGKILL')));
    await rm(parent, { recursive: true, force: true });
  });

  /**
   * Makes the documented waits short when they are known to have begun: the jobs end at once when they run again, and
   * another worker takes them from this one as soon as it starts.
   */
  const endWaits = async (): Promise<void> => {
    const database = new pg.Client(dev.database);
    await database.connect();
    try {
      await database.query(`update longshore.job set args = '{"waitMs": 1}' where name = 'test'`);
      await database.query('update longshore.server set timeout_ms = 1');
    } finally {
      await database.end();
    }
  };

  it('prints addresses that respond, and its first curl works', async () => {
    expect(await Promise.all(dev.urls.map(isServed))).to.deep.equal([true, true, true]);
    expect((await postTest(dev.api)).body).to.equal('ok');
  });

  it('reports at once that another one is running', async () => {
    const second = run('dev/dist/main.js', [], { DATA_DIR: data });
    started.push(second);
    expect(await second.ended).to.equal('exit 1');
    expect(second.lines.join('\n')).to.include(`make dev is already running (process ${dev.pid})`);
  });

  it('behaves as the README says: a killed worker is replaced, and its job runs again', async () => {
    const readme = await readFile(path.join(house, 'README.md'), 'utf8');
    const commands = [...readme.matchAll(/^```console\n(.*?)^```$/gms)]
      .flatMap(([, text = '']) => commandsIn(text))
      .filter(({ command }) => !command.startsWith('npx '));
    expect(commands).to.have.length(10);
    const session = new ConsoleSession({ 'http://localhost:8080': dev.api }, { cwd: parent });
    for (const command of commands) {
      if (command.command.startsWith('kill')) await endWaits();
      await session.run(command);
    }
    expect(dev.lines.join('\n')).to.include('worker exited unexpectedly: SIGKILL; restarting it');
    const jobs = await getJson<{ id: string; attempt: number }[]>(`${dev.api}/api/v1/jobs?name=test`);
    const repeated = jobs.find(({ attempt }) => attempt === 2);
    job = `/api/v1/jobs/${repeated?.id}`;
  });

  it('stops everything on Ctrl-C, although a job and an event stream never end, and leaves no process', async () => {
    const { location } = await postTest(dev.api);
    await eventually(
      () => getJob(location),
      ({ state }) => state === 'processing',
    );
    const stream = await fetch(`${dev.api}/api/v1/events`, { headers: { accept: 'text/event-stream' } });
    expect(await dev.end('SIGINT')).to.equal('exit 0');
    await stream.body?.cancel().catch(() => undefined);
    expect(await Promise.all(dev.urls.map(isServed))).to.deep.equal([false, false, false]);
  });

  describe('started again', () => {
    let ports: string[];

    before(async () => {
      ports = (await Promise.all([freePort(), freePort(), freePort()])).map(String);
      const [PORT_API = '', PORT_DASHBOARD = '', PORT_WORKER = ''] = ports;
      dev = await start({ PORT_API, PORT_DASHBOARD, PORT_WORKER });
    });
    after(() => dev.end('SIGKILL'));

    it('keeps the data', async () => {
      expect(await getJob(dev.api + job)).to.have.property('name', 'test');
    });

    it('uses the ports of PORT_API, PORT_DASHBOARD and PORT_WORKER', () => {
      expect(dev.urls.map((url) => new URL(url).port)).to.deep.equal(ports);
    });
  });

  // A separate suite that runs after the suite above, because both use the same data directory.
  describe('with API_STORAGE=memory', () => {
    it('runs everything in one process', async () => {
      dev = await start({ API_STORAGE: 'memory' });
      const { location } = await postTest(dev.api);
      await eventually(
        () => getJob(location),
        ({ state }) => state === 'done',
      );
      expect(await Promise.all(dev.urls.map(isServed))).to.deep.equal([true, true]);
    });
  });
});
