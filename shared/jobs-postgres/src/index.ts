export { type ApplicationDatabase, createApplicationDatabase } from './application-database.js';
export type { Migrations } from './migrate.js';
export type { PostgresOptions } from './postgres-options.js';
export { PostgresStorage } from './postgres-storage.js';
