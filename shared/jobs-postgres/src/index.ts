export { type ApplicationDatabase, createApplicationDatabase } from './connection/application-database.js';
export type { Migrations } from './connection/migrate.js';
export type { PostgresOptions } from './connection/options.js';
export { PostgresStorage } from './postgres-storage.js';
