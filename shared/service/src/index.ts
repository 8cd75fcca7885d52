export {
  type Application,
  type ApplicationServices,
  type ApplicationTables,
  type AssembledApplication,
  defineApplication,
  type SeedOptions,
} from './application.js';
export { type Config, ConfigError, type Environment, listOf, readConfig } from './config.js';
export { databaseOptions, retentionDays } from './database-options.js';
export { type Health, healthRoutes } from './health.js';
export { type HttpListener, listen } from './http-listener.js';
export { createJobServer } from './job-server.js';
export { loadApplication } from './load-application.js';
export { createLogger, type Logger } from './logger.js';
export { openStorage } from './open-storage.js';
export { runService, type RunningService } from './run-service.js';
export { readQueues } from './server-queues.js';
export { createServiceApp } from './service-app.js';
export { type Readiness, storageHealth } from './storage-health.js';
export { testJob, testJobHandler } from './test-job.js';
export {
  dashboardVariables,
  databaseVariables,
  proxyVariables,
  serverVariables,
  serviceVariables,
} from './variables.js';
