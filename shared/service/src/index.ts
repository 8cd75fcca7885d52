/**
 * Defines and loads applications, and contains what the services share: configuration, logs, health and metrics.
 *
 * @module @longshore/service
 */
export {
  type Application,
  type ApplicationServices,
  type ApplicationTables,
  defineApplication,
  type SeedOptions,
} from './application.js';
export { AccessLog } from './access-log.js';
export { type Config, ConfigError, listOf, problemsOf, readConfig, validValues } from './config.js';
export { type Environment, secretsOf } from './given-values.js';
export { type DashboardAccess, dashboardAccess } from './dashboard-access.js';
export { alertSettings, dashboardProblems, dashboardSettings } from './dashboard-settings.js';
export { databaseProblems } from './database-problems.js';
export {
  databaseOptions,
  retentionDays,
  applicationVariables,
  dashboardVariables,
  databaseVariables,
  metricsVariables,
  proxyVariables,
  serverVariables,
  serviceVariables,
} from './variables.js';
export { type Health, healthRoutes, type Readiness, storageHealth } from './health.js';
export {
  drain,
  type HttpListener,
  listen,
  createServiceApp,
  isMetricsPath,
  metricsGuard,
} from './http-server.js';
export { measureRequests } from './http-metrics.js';
export { measureEnqueued } from './job-metrics.js';
export { currentRequest, type EndedRequest, observeRequests } from './observed-requests.js';
export { startTracing, type Tracing } from './tracing.js';
export { measurePools, processMetrics, serviceVersion } from './process-metrics.js';
export { jobServerOptions, queueProblems, readQueues } from './job-server.js';
export {
  type ApplicationParts,
  applicationProblems,
  loadApplication,
  type LoadedApplication,
} from './load-application.js';
export { testJob } from './test-job.js';
export {
  createLogger,
  type RunningService,
  runService,
  type OnRelease,
  startService,
} from './run-service.js';
export type { Logger } from 'pino';
export { misspeltVariables } from './misspelt-variables.js';
export { OutageWatch, whenAvailable } from './outage-watch.js';
