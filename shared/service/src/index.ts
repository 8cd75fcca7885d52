/**
 * Defines and loads applications, and contains what the services share: configuration, logs, health and metrics.
 *
 * @module @longshore/service
 */
export {
  type Application,
  type ApplicationServices,
  type ApplicationTables,
  type AssembledApplication,
  defineApplication,
  type SeedOptions,
} from './application.js';
export { type Config, ConfigError, type Environment, listOf, readConfig } from './config.js';
export { type DashboardAccess, dashboardAccess } from './dashboard-access.js';
export { alertSettings, withVariableNames, dashboardSettings } from './dashboard-settings.js';
export { databaseOptions, retentionDays } from './database-options.js';
export { type Health, healthRoutes, type Readiness, storageHealth } from './health.js';
export { type HttpListener, listen } from './http-listener.js';
export { createJobServer, readQueues } from './job-server.js';
export { loadApplication } from './load-application.js';
export { createLogger, type Logger } from './logger.js';
export { metricsGuard } from './metrics-guard.js';
export { misspeltVariables } from './misspelt-variables.js';
export { OutageWatch } from './outage-watch.js';
export { whenAvailable } from './when-available.js';
export { type RunningService, runService } from './run-service.js';
export { createServiceApp } from './service-app.js';
export { type OnRelease, startService } from './service-life.js';
export { testJob, testJobHandler } from './test-job.js';
export {
  applicationVariables,
  dashboardVariables,
  databaseVariables,
  metricsVariables,
  proxyVariables,
  serverVariables,
  serviceVariables,
} from './variables.js';
