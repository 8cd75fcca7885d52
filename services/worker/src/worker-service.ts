import { createApplication } from '@longshore/edge';
import { createApplicationDatabase, PostgresStorage } from '@longshore/jobs-postgres';
import {
  createJobServer,
  databaseOptions,
  listen,
  loadApplication,
  type Logger,
  metricsGuard,
  type RunningService,
  storageHealth,
  whenAvailable,
} from '@longshore/service';
import Koa from 'koa';
import type { WorkerConfig } from './config.js';

/** Starts a job server with health and metrics routes. Resolves when the server is running. */
export async function startWorker(
  config: WorkerConfig,
  logger: Logger,
  signal: AbortSignal,
): Promise<RunningService> {
  const options = databaseOptions(config, 'worker');
  const storage = new PostgresStorage(options);
  const database = createApplicationDatabase(options);
  const application = await loadApplication(config.LONGSHORE_APP, {
    database: database.pool,
    directory: config.WORKER_RESULTS_DIR,
  });
  const health = storageHealth('worker', storage, {
    ...(application.tables !== undefined && { check: () => database.ping() }),
  });
  const app = createApplication(Koa, 0); // health checks and metrics do not look at addresses
  app.use(metricsGuard(config.HTTP_ALLOWED_HOSTS));
  app.use(health.routes.routes());
  const listener = await listen(app, config, logger);

  const { tables } = application;
  const server = createJobServer(application, storage, config, logger);
  await whenAvailable(() => storage.open(), logger, signal);
  if (tables !== undefined) await whenAvailable(() => database.migrate(tables.migrations), logger, signal);
  health.runs(server);
  await whenAvailable(() => server.start(), logger, signal);
  health.opened();
  logger.info({ application: application.name }, 'ready');

  return {
    ended: server.ended,
    stop: async () => {
      await server.stop();
      await Promise.all([listener.close(), storage.close(), database.close()]);
    },
  };
}
