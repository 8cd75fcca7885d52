import type { TransactionClient } from '@longshore/jobs';
import { adapterOf, hasMethods, requireOpen } from './check-transaction.js';

// One adapter per database library: each turns the library's open transaction into a `TransactionClient`.

/** The part of a Prisma transaction that enqueueing uses. */
export interface PrismaTransaction {
  $queryRawUnsafe(query: string, ...values: unknown[]): PromiseLike<unknown>;
}

/**
 * Adapts an interactive Prisma transaction, so that jobs can be enqueued in it:
 * `{ transaction: prismaTransaction(tx) }`.
 *
 * @throws {TypeError} if `tx` is a client instead of a transaction
 */
export function prismaTransaction(tx: PrismaTransaction): TransactionClient {
  const isOpen = hasMethods(tx, '$queryRawUnsafe') && (tx as { $connect?: unknown }).$connect === undefined;
  requireOpen(tx, isOpen, 'Prisma', 'prisma.$transaction(async (tx) => …)');
  return adapterOf(tx, () => ({
    query: async (text, values = []) => ({ rows: (await tx.$queryRawUnsafe(text, ...values)) as never[] }),
  }));
}

/** The part of a Drizzle transaction that enqueueing uses. */
export interface DrizzleTransaction {
  execute(query: never): PromiseLike<unknown>;
  rollback(): never;
}

/**
 * Adapts a Drizzle transaction, so that jobs can be enqueued in it: `{ transaction: drizzleTransaction(tx) }`. Supports
 * the drivers `node-postgres`, `postgres-js` and `pglite`.
 *
 * @throws {TypeError} if `tx` is a database instead of a transaction
 */
export function drizzleTransaction(tx: DrizzleTransaction): TransactionClient {
  requireOpen(tx, hasMethods(tx, 'rollback', 'execute'), 'Drizzle', 'db.transaction(async (tx) => …)');
  return adapterOf(tx, () => ({
    query: async (text, values = []) => {
      // Drizzle sends the text and parameters of such a query unchanged.
      const query = { getSQL: () => ({ toQuery: () => ({ sql: text, params: values }) }) };
      const result = await tx.execute(query as never);
      return { rows: (Array.isArray(result) ? result : (result as { rows: unknown[] }).rows) as never[] };
    },
  }));
}

/** The part of a Knex transaction that enqueueing uses. */
export interface KnexTransaction {
  readonly isTransaction?: boolean;
  isCompleted(): boolean;
  /** Provides the transaction's connection; typed as `any` by Knex. */
  readonly client: { acquireConnection(): Promise<unknown> };
}

/**
 * Adapts a Knex transaction, so that jobs can be enqueued in it: `{ transaction: knexTransaction(trx) }`. Requires the
 * client `pg`. Statements bypass Knex and run on the transaction's connection, because Knex would mistake the question
 * marks in Postgres operators for placeholders.
 *
 * @throws {TypeError} if `trx` is not an open transaction
 */
export function knexTransaction(trx: KnexTransaction): TransactionClient {
  const isOpen =
    hasMethods(trx, 'isCompleted') &&
    trx.isTransaction === true &&
    hasMethods(trx.client, 'acquireConnection') &&
    !trx.isCompleted();
  requireOpen(trx, isOpen, 'Knex', 'knex.transaction(async (trx) => …)');
  return adapterOf(trx, () => ({
    query: async (text, values = []) => {
      const connection = (await trx.client.acquireConnection()) as TransactionClient;
      return connection.query(text, values);
    },
  }));
}

/** The part of a Kysely transaction that enqueueing uses. */
export interface KyselyTransaction {
  readonly isTransaction: boolean;
  withoutPlugins(): { executeQuery(query: never): Promise<{ readonly rows: readonly unknown[] }> };
}

/**
 * Adapts a Kysely transaction, so that jobs can be enqueued in it: `{ transaction: kyselyTransaction(trx) }`. Requires
 * the Postgres dialect.
 *
 * @throws {TypeError} if `trx` is a database instead of a transaction
 */
export function kyselyTransaction(trx: KyselyTransaction): TransactionClient {
  const isOpen = hasMethods(trx, 'withoutPlugins') && trx.isTransaction;
  requireOpen(trx, isOpen, 'Kysely', 'db.transaction().execute(async (trx) => …)');
  const plain = trx.withoutPlugins();
  return adapterOf(trx, () => ({
    query: async (text, values = []) => {
      const node = { kind: 'RawNode', sqlFragments: [text], parameters: [] };
      const query = { sql: text, parameters: values, query: node, queryId: { queryId: 'longshore' } };
      const { rows } = await plain.executeQuery(query as never);
      return { rows: rows as never[] };
    },
  }));
}

/** The part of a postgres.js transaction that enqueueing uses. */
export interface PostgresJsTransaction {
  unsafe(query: string, values: never[]): PromiseLike<readonly unknown[]>;
  typed(value: never, oid: number): unknown;
  savepoint: unknown;
}

/** OID of the type `unknown`; Postgres infers the actual type of such a value from the context. */
const unknownOid = 705;

/**
 * Adapts a postgres.js transaction, so that jobs can be enqueued in it: `{ transaction: postgresJsTransaction(sql) }`.
 *
 * @throws {TypeError} if `sql` is a connection instead of a transaction
 */
export function postgresJsTransaction(sql: PostgresJsTransaction): TransactionClient {
  const isOpen = hasMethods(sql, 'savepoint', 'unsafe', 'typed');
  requireOpen(sql, isOpen, 'postgres.js', 'sql.begin(async (sql) => …)');
  // Strings are sent unchanged, because postgres.js would encode JSON text as JSON a second time.
  const asIs = (value: unknown): unknown =>
    typeof value === 'string' ? sql.typed(value as never, unknownOid) : value;
  return adapterOf(sql, () => ({
    query: async (text, values = []) => ({
      rows: (await sql.unsafe(text, values.map(asIs) as never[])) as never[],
    }),
  }));
}

/** The part of a TypeORM entity manager that enqueueing uses. */
export interface TypeormManager {
  readonly queryRunner?: {
    readonly isTransactionActive: boolean;
    query(
      text: string,
      values: unknown[],
      structured: true,
    ): Promise<{ readonly records: readonly unknown[] }>;
  };
}

/**
 * Adapts a TypeORM transaction, so that jobs can be enqueued in it: `{ transaction: typeormTransaction(manager) }`.
 *
 * @throws {TypeError} if the manager does not belong to an active transaction
 */
export function typeormTransaction(manager: TypeormManager): TransactionClient {
  const runner = hasMethods(manager) ? manager.queryRunner : undefined;
  const isOpen = hasMethods(runner, 'query') && runner?.isTransactionActive === true;
  requireOpen(manager, isOpen, 'TypeORM', 'dataSource.transaction(async (manager) => …)');
  return adapterOf(runner ?? manager, () => ({
    query: async (text, values = []) => {
      const result = await runner?.query(text, values, true);
      return { rows: (result?.records ?? []) as never[] };
    },
  }));
}
