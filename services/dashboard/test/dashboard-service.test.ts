import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { PassThrough } from 'node:stream';
import { defineJob, handleJob, JobClient, JobServer } from '@longshore/jobs';
import { PostgresStorage } from 'longshore';
import { ConfigError, type RunningService } from '@longshore/service';
import {
  createTestDatabase,
  eventually,
  httpClient,
  patientServer,
  patientStorage,
  type TestDatabase,
} from '@longshore/test-support';
import { expect } from 'chai';
import { pino } from 'pino';
import Type from 'typebox';
import { readDashboardConfig, startDashboard } from '../src/dashboard-service.js';

const wait = defineJob({ name: 'wait', args: Type.Object({}) });
const form = { 'content-type': 'application/x-www-form-urlencoded' };

describe('the service dashboard', () => {
  let database: TestDatabase;
  let abort: AbortController;
  let lines: string[];
  let starting: Promise<RunningService>;
  beforeEach(async () => {
    database = await createTestDatabase();
    abort = new AbortController();
    lines = [];
  });
  afterEach(async () => {
    abort.abort();
    await starting.then((service) => service.stop()).catch(() => undefined);
    await database.drop();
  });

  /**
   * Starts the service and returns a client for it. Resolves once the service listens, even if the storage is not open.
   */
  const start = async (environment: Readonly<Record<string, string>> = {}) => {
    const stream = new PassThrough();
    stream.on('data', (line: Buffer) => lines.push(line.toString()));
    const config = readDashboardConfig({
      PORT: '0',
      DATABASE_URL: database.url,
      DATABASE_CONNECT_TIMEOUT_MS: '3600000',
      DATABASE_SILENCE_TIMEOUT_MS: '3600000',
      DATABASE_READ_TIMEOUT_MS: '3600000',
      DASHBOARD_READ_TIMEOUT_MS: '3600000',
      ...environment,
    });
    starting = startDashboard(config, pino({ level: 'trace' }, stream), abort.signal);
    starting.catch(() => undefined);
    await eventually(() => expect(log()).to.include('"port":'));
    return httpClient(`http://127.0.0.1:${/"port":(\d+)/.exec(log())?.[1]}`);
  };
  const log = (): string => lines.join('');

  it('redirects from / to the dashboard, by a link that works behind a gateway that strips a prefix', async () => {
    const { status, headers } = await (await start()).get('/');
    expect([status, headers.location]).to.deep.equal([302, './job-dashboard']);
  });

  it('sets its security headers on every response', async () => {
    const http = await start();
    await starting;
    for (const path of ['/', '/elsewhere', '/healthz', '/job-dashboard/', '/job-dashboard/elsewhere']) {
      const { headers } = await http.get(path);
      expect(headers['content-security-policy'], path).to.include("default-src 'none'");
      expect(headers['x-content-type-options'], path).to.equal('nosniff');
    }
  });

  it('is alive, but not ready, until the storage is open', async () => {
    const http = await start({ DATABASE_URL: 'postgres://longshore@127.0.0.1:1/none' });
    const statuses = [
      await http.get('/healthz'),
      await http.get('/readyz'),
      await http.get('/job-dashboard/'),
    ];
    expect(statuses.map(({ status }) => status)).to.deep.equal([200, 503, 503]);
  });

  it('releases its port if it is stopped before the storage is open', async () => {
    const http = await start({ DATABASE_URL: 'postgres://longshore@127.0.0.1:1/none' });
    abort.abort();
    await starting.catch(() => undefined);
    expect(String(await http.get('/healthz').catch((error: unknown) => error))).to.include('ECONNREFUSED');
  });

  for (const path of ['/a b', 'jobs', '/:path', '/a/../b', '//']) {
    it(`rejects ${path} as its path`, () => {
      expect(() => readDashboardConfig({ DATABASE_URL: 'postgres://x', DASHBOARD_PATH: path })).to.throw(
        ConfigError,
        'DASHBOARD_PATH',
      );
    });
  }

  for (const path of ['/', '/ops', '/ops/jobs/']) {
    it(`can be served at ${path}`, () => {
      const config = readDashboardConfig({ DATABASE_URL: 'postgres://x', DASHBOARD_PATH: path });
      expect(config.DASHBOARD_PATH).to.equal(path);
    });
  }

  it('logs who did what, and from where', async () => {
    const http = await start({ DASHBOARD_PASSWORD: 'right', HTTP_TRUSTED_PROXIES: '1' });
    await starting;
    const headers = {
      ...form,
      authorization: `Basic ${Buffer.from('ada:right').toString('base64')}`,
      'x-forwarded-for': '192.0.2.66, 192.0.2.7',
    };
    const storage = new PostgresStorage({ url: database.url, ...patientStorage });
    await storage.queues.resume('mail');
    await storage.close();
    const { text } = await http.get('/job-dashboard/queues/mail', { headers });
    const [, token = ''] = /name="token" value="([^"]+)"/.exec(text) ?? [];
    const body = new URLSearchParams({ token }).toString();
    expect((await http.post('/job-dashboard/queues/mail/pause', body, { headers })).status).to.equal(303);
    expect(log())
      .to.include('"action":"queues/pause","target":"mail"')
      .and.include('"address":"192.0.2.7"')
      .and.include('"name":"ada"');
  });

  it('logs wrong passwords', async () => {
    const http = await start({ DASHBOARD_PASSWORD: 'right' });
    const authorization = `Basic ${Buffer.from('ada:wrong').toString('base64')}`;
    await http.get('/job-dashboard/', { headers: { authorization } });
    expect(log()).to.include('"event":"wrong password"').and.not.include('ada:wrong');
  });

  it('warns without a password that everybody on this machine is an admin', async () => {
    await start({ DASHBOARD_PASSWORD: '' });
    expect(log()).to.include('everyone on this machine is an admin of the dashboard');
  });

  it('stops while a viewer follows a job', async () => {
    const http = await start();
    await starting;
    const storage = new PostgresStorage({ url: database.url, ...patientStorage });
    const handlers = [
      handleJob(wait, async ({ signal }) => {
        await once(signal, 'abort');
      }),
    ];
    const server = new JobServer({ storage, handlers, ...patientServer, stopTimeoutMs: 0 });
    try {
      const { id } = await new JobClient(storage).enqueue(wait, {});
      await server.start();
      await eventually(async () => expect((await storage.jobs.find(id))?.state).to.equal('processing'));
      const [, port] = /"port":(\d+)/.exec(log()) ?? [];
      const asked = request({ port, path: `/job-dashboard/jobs/${id}/stream`, agent: false }).end();
      const [response] = (await once(asked, 'response')) as [IncomingMessage];
      response.on('error', () => undefined).resume();
      const ended = new Promise((resolve) => response.once('close', resolve));
      await (await starting).stop();
      await ended;
      expect(String(await http.get('/healthz').catch((error: unknown) => error))).to.include('ECONNREFUSED');
    } finally {
      await server.stop();
      await storage.close();
    }
  });
});
