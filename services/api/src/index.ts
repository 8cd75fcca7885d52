export { findApiProblems } from './api-problems.js';
export { startApi } from './api-service.js';
export { type ApiConfig, apiVariables, readApiConfig } from './config.js';
export { createKey, checkMigrations, migrateAll, seedTables } from './commands.js';
