import { createApplication } from '@longshore/edge';
import { type EnqueueMiddleware, JobServer, MemoryStorage, runOnce } from '@longshore/jobs';
import {
  AccessLog,
  applicationProblems,
  applicationVariables,
  type Config,
  databaseOptions,
  databaseProblems,
  databaseVariables,
  type Environment,
  jobServerOptions,
  listen,
  loadApplication,
  type LoadedApplication,
  type Logger,
  measureEnqueued,
  measurePools,
  measureRequests,
  metricsGuard,
  metricsVariables,
  observeRequests,
  type OnRelease,
  processMetrics,
  problemsOf,
  queueProblems,
  readConfig,
  readQueues,
  type RunningService,
  serverVariables,
  serviceVariables,
  startService,
  startTracing,
  storageHealth,
  validValues,
  whenAvailable,
} from '@longshore/service';
import Koa from 'koa';
import { type ApplicationDatabase, createApplicationDatabase, PostgresStorage } from 'longshore';
import Type from 'typebox';

/**
 * Starts a job server with health and metrics routes. Resolves when the server is running.
 *
 * @throws if it cannot start, or the reason of the signal if it aborts first; everything has been released then
 */
export function startWorker(
  config: WorkerConfig,
  logger: Logger,
  signal: AbortSignal,
): Promise<RunningService> {
  return startService(logger, signal, (onRelease) => start(config, logger, signal, onRelease));
}

async function start(
  config: WorkerConfig,
  logger: Logger,
  signal: AbortSignal,
  onRelease: OnRelease,
): Promise<AbortSignal> {
  const metrics = processMetrics('worker', config.WORKER_VERSION);
  const { storage, database, application } = await prepare(config, logger, onRelease, [
    measureEnqueued(metrics),
  ]);
  const { tables } = application;
  measurePools(metrics, () => [...storage.pools(), ...database.pools()]);
  const health = storageHealth(metrics, storage, {
    ...(tables !== undefined && { check: async () => database.isConnected && database.ping() }),
  });
  const app = createApplication(Koa, 0); // health checks and metrics do not look at addresses
  const accessLog = new AccessLog(logger, config.HTTP_ACCESS_LOG_PER_SECOND);
  app.use(observeRequests([measureRequests(metrics), accessLog.add]));
  app.use(metricsGuard(config.HTTP_ALLOWED_HOSTS));
  app.use(health.routes.routes());
  const listener = await listen(app, config, logger);
  onRelease(() => listener.close());

  const server = new JobServer(jobServerOptions(application, storage, config, logger));
  onRelease(() => server.stop());
  const available = (step: () => Promise<unknown>): Promise<unknown> =>
    whenAvailable(() => health.starts(step()), logger, signal);
  await available(() => storage.open());
  if (tables !== undefined) await available(() => database.migrate(tables.migrations));
  await application.start();
  health.runs(server);
  await available(() => server.start());
  health.opened();
  onRelease(async () => health.stopping());
  logger.info({ application: application.name }, 'ready');
  return server.ended;
}

/**
 * Starts to run what is ready, as `runOnce` does. The service ends when nothing is left, and logs what it has run. Opens no
 * port. Does not wait for a database that is unavailable, so that a scheduler notices.
 *
 * @throws if it cannot start, or the reason of the signal if it aborts first; everything has been released then
 */
export function startWorkerOnce(
  config: WorkerConfig,
  logger: Logger,
  signal: AbortSignal,
): Promise<RunningService> {
  return startService(logger, signal, async (onRelease) => {
    const { storage, database, application } = await prepare(config, logger, onRelease);
    const { tables } = application;
    await storage.open();
    if (tables !== undefined) await database.migrate(tables.migrations);
    await application.start();
    const [stopping, ended] = [new AbortController(), new AbortController()];
    const options = jobServerOptions(application, storage, config, logger);
    const running = runOnce({ ...options, signal: stopping.signal })
      .then(({ drained, ...counts }) =>
        logger.info(
          counts,
          drained ? 'ran what was ready' : 'stopped before everything that was ready had run',
        ),
      )
      .finally(() => ended.abort());
    running.catch(() => undefined); // the release rethrows the error
    onRelease(() => {
      stopping.abort();
      return running;
    });
    return ended.signal;
  });
}

/** Creates the storage and the database, and loads the application, all to be released at the end. */
async function prepare(
  config: WorkerConfig,
  logger: Logger,
  onRelease: OnRelease,
  clientMiddleware: readonly EnqueueMiddleware[] = [],
): Promise<{
  readonly storage: PostgresStorage;
  readonly database: ApplicationDatabase;
  readonly application: LoadedApplication;
}> {
  const tracing = await startTracing(config, 'worker', logger, onRelease);
  const options = databaseOptions(config, 'worker', logger);
  const storage = new PostgresStorage(options);
  const database = createApplicationDatabase(options);
  onRelease(() => Promise.all([storage.close(), database.close()]));
  const application = await loadApplication(config, {
    storage,
    database: database.pool,
    logger,
    clientMiddleware: [...tracing.clientMiddleware, ...clientMiddleware],
    serverMiddleware: tracing.serverMiddleware,
  });
  onRelease(() => application.stop());
  return { storage, database, application };
}

const variables = Type.Object({
  ...serviceVariables,
  ...applicationVariables,
  ...metricsVariables,
  ...databaseVariables,
  ...serverVariables,
  /** The port of the health and metrics routes, the only routes of a worker. */
  PORT: Type.Integer({ minimum: 0, maximum: 65_535, default: 8082 }),
});

export type WorkerConfig = Config<typeof variables>;

/** The environment variables of the worker service. */
export { variables as workerVariables };

/**
 * Reads the configuration of a worker from the environment.
 *
 * @throws {ConfigError} if a variable is invalid; the message lists every problem
 */
export function readWorkerConfig(environment: Environment): WorkerConfig {
  return readConfig(variables, environment, [
    ({ WORKER_QUEUES }) => problemsOf(() => readQueues(WORKER_QUEUES)),
  ]);
}

/** Returns what the worker would find wrong when it starts, besides what {@link readWorkerConfig} reports. */
export async function findWorkerProblems(environment: Environment): Promise<readonly string[]> {
  const config = validValues(variables, environment);
  return [
    ...applicationProblems(config),
    ...databaseProblems(config, (options) => void new PostgresStorage(options).close()),
    ...queueProblems(
      config,
      (queues) => new JobServer({ storage: new MemoryStorage(), handlers: [], ...queues }),
    ),
  ];
}
