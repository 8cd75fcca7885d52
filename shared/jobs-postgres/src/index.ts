/**
 * Background jobs, stored in Postgres or in memory: everything that most programs need, in one package.
 *
 * @module longshore
 */
export * from '@longshore/jobs';
export { type ApplicationDatabase, createApplicationDatabase } from './connection/application-database.js';
export type { Migrations } from './connection/migrate.js';
export {
  type DrizzleTransaction,
  drizzleTransaction,
  type KnexTransaction,
  knexTransaction,
  type KyselyTransaction,
  kyselyTransaction,
  type PostgresJsTransaction,
  postgresJsTransaction,
  type PrismaTransaction,
  prismaTransaction,
  type TypeormManager,
  typeormTransaction,
} from './drivers/adapters.js';
export type { PostgresOptions } from './connection/options.js';
export { PostgresStorage } from './postgres-storage.js';
