export { startApi } from './api-service.js';
export { type ApiConfig, apiVariables, readApiConfig } from './config.js';
export { createKey } from './create-key.js';
export { checkMigrations, migrateAll } from './migrate.js';
export { seedTables } from './seed.js';
