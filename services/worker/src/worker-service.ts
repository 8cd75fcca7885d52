import { createApplication } from '@longshore/edge';
import {
  applicationVariables,
  type Config,
  createJobServer,
  databaseOptions,
  databaseVariables,
  type Environment,
  listen,
  loadApplication,
  type Logger,
  metricsGuard,
  metricsVariables,
  type OnRelease,
  readConfig,
  type RunningService,
  serverVariables,
  serviceVariables,
  startService,
  storageHealth,
  whenAvailable,
} from '@longshore/service';
import Koa from 'koa';
import { createApplicationDatabase, PostgresStorage } from 'longshore';
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
  const options = databaseOptions(config, 'worker');
  const storage = new PostgresStorage(options);
  const database = createApplicationDatabase(options);
  onRelease(() => Promise.all([storage.close(), database.close()]));
  const application = await loadApplication(config, { storage, database: database.pool, logger });
  onRelease(() => application.stop());
  const health = storageHealth('worker', storage, {
    ...(application.tables !== undefined && { check: () => database.ping() }),
  });
  const app = createApplication(Koa, 0); // health checks and metrics do not look at addresses
  app.use(metricsGuard(config.HTTP_ALLOWED_HOSTS));
  app.use(health.routes.routes());
  const listener = await listen(app, config, logger);
  onRelease(() => listener.close());

  const { tables } = application;
  const server = createJobServer(application, storage, config, logger);
  onRelease(() => server.stop());
  await whenAvailable(() => storage.open(), logger, signal);
  if (tables !== undefined) await whenAvailable(() => database.migrate(tables.migrations), logger, signal);
  await application.start();
  health.runs(server);
  await whenAvailable(() => server.start(), logger, signal);
  health.opened();
  logger.info({ application: application.name }, 'ready');
  return server.ended;
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

/** The names of the environment variables that the worker service reads. */
export const workerVariables = Object.keys(variables.properties);

/**
 * Reads the configuration of a worker from the environment.
 *
 * @throws {ConfigError} if a variable is invalid; the message lists every problem
 */
export function readWorkerConfig(environment: Environment): WorkerConfig {
  return readConfig(variables, environment);
}
