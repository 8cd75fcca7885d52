import { readApiConfig, startApi } from '@longshore/api';
import { readDashboardConfig, startDashboard } from '@longshore/dashboard';
import { freePort } from '@longshore/local-postgres';
import { createLogger, type RunningService } from '@longshore/service';
import { createTestDatabase, httpClient, type TestDatabase } from '@longshore/test-support';
import { readWorkerConfig, startWorker } from '@longshore/worker';
import { expect } from 'chai';

type Environment = Readonly<Record<string, string>>;
type Start = (environment: Environment, signal: AbortSignal) => Promise<RunningService>;

const logger = createLogger('test', 'silent');
const application = { LONGSHORE_APP: '@longshore/example-shop' };

/** Starts each service in this process, the way its program does. */
const services: Readonly<Record<string, Start>> = {
  api: (environment, signal) => startApi(readApiConfig({ ...environment, ...application }), logger, signal),
  'api with a job server and the dashboard': (environment, signal) => {
    const embedded = { API_EMBEDDED_SERVER: 'true', API_EMBEDDED_DASHBOARD: 'true' };
    return startApi(readApiConfig({ ...environment, ...application, ...embedded }), logger, signal);
  },
  worker: (environment, signal) =>
    startWorker(readWorkerConfig({ ...environment, ...application }), logger, signal),
  dashboard: (environment, signal) => startDashboard(readDashboardConfig(environment), logger, signal),
};

for (const [name, start] of Object.entries(services))
  describe(`The life of the service ${name}`, () => {
    let database: TestDatabase;
    let port: number;
    let environment: Environment;

    before(async () => {
      database = await createTestDatabase();
    });
    beforeEach(async () => {
      port = await freePort();
      environment = {
        HOST: '127.0.0.1',
        PORT: String(port),
        DATABASE_URL: database.url,
        DATABASE_SILENCE_TIMEOUT_MS: '3600000',
      };
    });
    after(() => database.drop());

    const isAlive = (): Promise<boolean> =>
      httpClient(`http://127.0.0.1:${port}`)
        .get('/healthz')
        .then(({ status }) => status === 200)
        .catch(() => false);

    async function expectNothingLeft(): Promise<void> {
      expect(await isAlive(), 'whether the port answers').to.equal(false);
      await database.disconnected('longshore');
      const [row] = await database.query<{ table: string | null }>(
        `select to_regclass('longshore.server') as table`,
      );
      if (row?.table !== null)
        expect(await database.query('select id from longshore.server')).to.deep.equal([]);
    }

    it('stops once, however often it is asked to', async () => {
      const service = await start(environment, new AbortController().signal);
      expect(await isAlive()).to.equal(true);
      await Promise.all([service.stop(), service.stop()]);
      await service.stop();
      await expectNothingLeft();
    });

    it('leaves nothing behind, and the first one alone, if it is started twice on one port', async () => {
      const first = await start(environment, new AbortController().signal);
      const second = await start(environment, new AbortController().signal).catch((error: unknown) => error);
      expect(second).to.have.property('code', 'EADDRINUSE');
      expect(await isAlive()).to.equal(true);
      await first.stop();
      await expectNothingLeft();
    });

    it('leaves nothing behind if it is stopped while it starts', async () => {
      const stopping = new AbortController();
      const reason = new Error('stopped');
      const starting = start(environment, stopping.signal);
      stopping.abort(reason);
      expect(await starting.catch((error: unknown) => error)).to.equal(reason);
      await expectNothingLeft();
    });

    it('does not start if it was stopped before', async () => {
      const reason = new Error('stopped');
      const starting = start(environment, AbortSignal.abort(reason));
      expect(await starting.catch((error: unknown) => error)).to.equal(reason);
      await expectNothingLeft();
    });
  });
