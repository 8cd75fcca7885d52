import { createApplicationDatabase, PostgresStorage } from '@longshore/jobs-postgres';
import {
  createJobServer,
  databaseOptions,
  listen,
  loadApplication,
  type Logger,
  metricsGuard,
  openStorage,
  type RunningService,
  storageHealth,
} from '@longshore/service';
import Koa from 'koa';
import type { WorkerConfig } from './config.js';

/** A job server on its own. Run more of them for more jobs at once. */
export async function startWorker(
  config: WorkerConfig,
  logger: Logger,
  signal: AbortSignal,
): Promise<RunningService> {
  const application = await loadApplication(config.LONGSHORE_APP);
  const options = databaseOptions(config, 'worker');
  const storage = new PostgresStorage(options);
  const database = createApplicationDatabase(options);
  const health = storageHealth('worker', storage);
  const app = new Koa();
  app.use(metricsGuard(config.HTTP_ALLOWED_HOSTS));
  app.use(health.routes.routes());
  const listener = await listen(app, config, logger);

  await openStorage(storage, logger, signal);
  const { tables, handlers } = application;
  if (tables !== undefined) await database.migrate(tables.migrations);
  const own = tables?.createHandlers({ database: database.pool, directory: config.WORKER_RESULTS_DIR }) ?? [];
  const server = createJobServer(application, [...handlers, ...own], storage, config, logger);
  health.runs(server);
  await server.start();
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
