import { type JobDefinition, type JobStorage, MemoryStorage } from '@longshore/jobs';
import { type AlertOptions, AlertSender, createDashboard } from '@longshore/jobs-dashboard';
import {
  alertSettings,
  dashboardAccess,
  dashboardProblems,
  dashboardSettings,
  type Logger,
  type OutageWatch,
} from '@longshore/service';
import type Koa from 'koa';
import type { ApiConfig } from './config.js';

/**
 * Serves the dashboard from the API's process.
 *
 * @param closing aborts when the API stops, which ends the pages' streams
 * @returns the sender of its alerts, not yet started
 */
export function embedDashboard(
  app: Koa,
  config: ApiConfig,
  storage: JobStorage,
  definitions: readonly JobDefinition[],
  logger: Logger,
  outages: OutageWatch,
  closing: AbortSignal,
): AlertSender {
  app.use(
    createDashboard({
      storage,
      control: storage,
      definitions,
      closing,
      onAction: (action) => logger.info({ ...action }, 'dashboard action'),
      onAccess: (record) => logger.info({ ...record }, 'dashboard access'),
      ...dashboardSettings(config),
      // Browsers reach it where they reach the API, unless it has an address of its own.
      baseUrl: config.DASHBOARD_BASE_URL || config.API_BASE_URL,
      ...dashboardAccess(config),
    }),
  );
  const onError: AlertOptions['onError'] = (error, target) => {
    if (!outages.covers(error))
      logger.warn({ err: error, target }, 'warnings not checked, or alert not sent');
  };
  return new AlertSender({ ...alertSettings(config), storage, onError });
}

/** Returns what the embedded dashboard and its alerts refuse of their settings. */
export function embeddedDashboardProblems(config: ApiConfig): string[] {
  const storage = new MemoryStorage();
  return dashboardProblems(config, {
    dashboard: (options) => createDashboard({ storage, ...options }),
    alerts: (options) => new AlertSender({ storage, ...options }),
  });
}
