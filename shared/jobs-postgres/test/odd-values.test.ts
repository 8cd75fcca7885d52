import { silentLogger } from '@longshore/jobs';
import { badAnswers } from '@longshore/test-support';
import { expect } from 'chai';
import {
  createApplicationDatabase,
  drizzleTransaction,
  knexTransaction,
  kyselyTransaction,
  type PostgresOptions,
  PostgresStorage,
  postgresJsTransaction,
  prismaTransaction,
  typeormTransaction,
} from '../src/index.js';

type Call = (...given: unknown[]) => unknown;

const options: Readonly<Record<keyof PostgresOptions, unknown>> = {
  url: 'postgres://nobody@localhost:1/none',
  pool: undefined,
  ssl: false,
  schema: 'longshore',
  poolSize: 1,
  readPoolSize: 1,
  readTimeoutMs: 1,
  connectTimeoutMs: 100,
  silenceTimeoutMs: 500,
  useRecommendedIsolationLevel: true,
  disableGlobalLocks: true,
  commandBatchMaxTimeoutMs: 1_000,
  transactionIdleTimeoutMs: 1_000,
  searchTimeoutMs: 1,
  searchUrl: undefined,
  searchMaxLagMs: 1,
  pooler: 'none',
  distribution: 'none',
  directUrl: undefined,
  maxQueues: 1,
  migrate: 'run',
  start: 'running',
  logger: silentLogger,
  applicationName: 'application',
  retentionDays: { done: 1 },
};

/** The adapters, with objects that resemble transactions of their libraries. */
const adapters: Readonly<Record<string, readonly [adapt: unknown, complete: object]>> = {
  drizzleTransaction: [drizzleTransaction, { execute: () => null, rollback: () => null }],
  knexTransaction: [
    knexTransaction,
    { isTransaction: true, isCompleted: () => false, client: { acquireConnection: () => null } },
  ],
  kyselyTransaction: [
    kyselyTransaction,
    { isTransaction: true, withoutPlugins: () => ({ executeQuery: () => null }) },
  ],
  postgresJsTransaction: [
    postgresJsTransaction,
    { unsafe: () => null, typed: () => null, savepoint: () => null },
  ],
  prismaTransaction: [prismaTransaction, { $queryRawUnsafe: () => null }],
  typeormTransaction: [typeormTransaction, { queryRunner: { isTransactionActive: true, query: () => null } }],
};

describe('An odd value', () => {
  it('either works as an option of the storage, or is refused with what is wanted', async () => {
    const create: Call = (value) =>
      Reflect.construct(PostgresStorage, [value] as unknown as [PostgresOptions]).close();
    expect(await badAnswers('PostgresStorage', create, { complete: options })).to.deep.equal([]);
  });

  it("either works as an option of an application's database, or is refused with what is wanted", async () => {
    const create: Call = (value) => createApplicationDatabase(value as PostgresOptions).close();
    expect(await badAnswers('createApplicationDatabase', create, { complete: options })).to.deep.equal([]);
  });

  for (const [name, [adapter, complete]] of Object.entries(adapters))
    it(`as the transaction of ${name} is refused with what is wanted`, async () => {
      const adapt = adapter as Call;
      expect(await badAnswers(name, adapt, { complete })).to.deep.equal([]);
      for (const value of [undefined, null, {}, 5, 'a', () => null])
        expect(() => adapt(value)).to.throw(TypeError, 'is not an open transaction: pass the one from');
    });
});
