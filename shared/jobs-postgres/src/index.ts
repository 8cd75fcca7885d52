/**
 * Background jobs, stored in Postgres or in memory: everything that most programs need, in one package.
 *
 * @module longshore
 */
export * from '@longshore/jobs';
export { type ApplicationDatabase, createApplicationDatabase } from './connection/application-database.js';
export type { Migrations } from './connection/migrate.js';
export { type DrizzleTransaction, drizzleTransaction } from './drivers/drizzle.js';
export { type KnexTransaction, knexTransaction } from './drivers/knex.js';
export { type KyselyTransaction, kyselyTransaction } from './drivers/kysely.js';
export { type PostgresJsTransaction, postgresJsTransaction } from './drivers/postgres-js.js';
export { type PrismaTransaction, prismaTransaction } from './drivers/prisma.js';
export { type TypeormManager, typeormTransaction } from './drivers/typeorm.js';
export type { PostgresOptions } from './connection/options.js';
export { PostgresStorage } from './postgres-storage.js';
