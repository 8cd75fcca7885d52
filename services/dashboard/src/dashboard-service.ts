import { createDashboard } from '@longshore/jobs-dashboard';
import { PostgresStorage } from '@longshore/jobs-postgres';
import {
  databaseOptions,
  listen,
  type Logger,
  openStorage,
  type RunningService,
  storageHealth,
} from '@longshore/service';
import Koa from 'koa';
import type { DashboardConfig } from './config.js';

/** The operators' pages on their own. */
export async function startDashboard(
  config: DashboardConfig,
  logger: Logger,
  signal: AbortSignal,
): Promise<RunningService> {
  const storage = new PostgresStorage(databaseOptions(config, 'dashboard'));
  const health = storageHealth('dashboard', storage);
  const app = new Koa();
  const closing = new AbortController();
  app.use(health.routes.routes());
  app.use(
    createDashboard({
      storage,
      control: storage,
      closing: closing.signal,
      onAction: (action) => logger.info({ ...action }, 'dashboard action'),
      onAccess: (access) => logger.info({ ...access }, 'dashboard access'),
      path: config.DASHBOARD_PATH,
      password: config.DASHBOARD_PASSWORD,
      production: config.NODE_ENV === 'production',
    }),
  );
  app.use((context) => {
    if (context.path === '/') context.redirect(config.DASHBOARD_PATH);
  });
  const listener = await listen(app, config, logger);

  await openStorage(storage, logger, signal);
  health.opened();
  logger.info({}, 'ready');

  return {
    stop: async () => {
      closing.abort();
      await listener.close();
      await storage.close();
    },
  };
}
