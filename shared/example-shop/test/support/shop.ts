import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { application, seed } from '@longshore/example-shop';
import {
  JobClient,
  JobServer,
  type JobStorage,
  type JsonValue,
  MemoryStorage,
  silentLogger,
} from '@longshore/jobs';
import { PostgresStorage } from 'longshore';
import { MemoryDatabase } from '@longshore/resources/memory-database';
import { createResourceApi, type Database, inTransaction } from '@longshore/resources';
import {
  apiFetch,
  createTestDatabase,
  eventually,
  patientServer,
  patientStorage,
  serve,
} from '@longshore/test-support';
import Koa from 'koa';
import { runner } from 'node-pg-migrate';
import pg from 'pg';

export interface Shop {
  /** Runs a statement on the tables of the shop and returns its rows. */
  readonly query: (text: string, values?: unknown[]) => Promise<readonly object[]>;
  readonly call: (method: string, path: string, json?: unknown) => Promise<Answer>;
  readonly enqueue: (name: string, args: unknown) => Promise<string>;
  /** Triggers a recurring job now and returns the id of the enqueued job. */
  readonly trigger: (recurringJobId: string) => Promise<string>;
  /** Counts the jobs with this name, in any state. */
  readonly countJobs: (name: string) => Promise<number>;
  /** Sends a signal to the job that fulfils an order. */
  readonly signal: (orderId: string, name: string, data: JsonValue) => Promise<readonly string[]>;
  /** Waits until a job is done and returns its result. */
  readonly resultOf: (jobId: string) => Promise<unknown>;
  readonly close: () => Promise<void>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

const { createHandlers, tables } = application;
if (tables === undefined) throw new Error('The shop has no tables');
const { migrations, resources } = tables;

/** Where a shop keeps its rows and jobs. */
export type ShopStorage = 'postgres' | 'memory';

interface OpenStorage {
  readonly database: Database;
  readonly jobs: JobStorage;
  readonly close: () => Promise<void>;
}

async function migrate(url: string): Promise<void> {
  await runner({
    databaseUrl: url,
    dir: fileURLToPath(migrations.directory),
    direction: 'up',
    schema: migrations.schema,
    createSchema: true,
    migrationsTable: 'migration',
    log: () => undefined,
  });
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await seed(client);
  await client.end();
}

/** Creates a test database with the seeded tables of the shop, and opens a job store in it. */
async function openPostgres(): Promise<OpenStorage> {
  const database = await createTestDatabase(migrate);
  const pool = new pg.Pool({ connectionString: database.url, max: 5 });
  const jobs = new PostgresStorage({ url: database.url, poolSize: 3, ...patientStorage });
  await jobs.open();
  const close = async (): Promise<void> => {
    await jobs.close();
    await pool.end();
    await database.drop();
  };
  return { database: pool, jobs, close };
}

async function openMemory(): Promise<OpenStorage> {
  const database = new MemoryDatabase();
  await database.migrate(migrations);
  await seed(database);
  const jobs = new MemoryStorage({ transaction: (work) => inTransaction(database, work) });
  const close = async (): Promise<void> => {
    await jobs.close();
    await database.close();
  };
  return { database, jobs, close };
}

/** Opens a seeded shop, and starts its API and a job server. */
export async function openShop(kind: ShopStorage): Promise<Shop> {
  const opened = await (kind === 'postgres' ? openPostgres() : openMemory());
  const { database, jobs: storage } = opened;
  const directory = await mkdtemp(path.join(tmpdir(), 'shop-'));
  const client = new JobClient(storage);
  const handlers = createHandlers({ client, database, directory, logger: silentLogger });
  const app = new Koa();
  app.use(
    createResourceApi({
      resources,
      baseUrl: 'https://shop.longshore.dev',
      log: { incident: () => {} },
      platform: {
        database,
        jobs: (transaction) => client.boundTo(() => ({ transaction })),
        searchTimeoutMs: patientStorage.searchTimeoutMs,
      },
    }),
  );
  const handle = app.callback();
  const http = await serve((request, response) => void handle(request, response));
  const send = apiFetch(http.url);
  const server = new JobServer({
    storage,
    client,
    handlers,
    ...patientServer,
    queues: handlers.map(({ definition }) => definition.queue),
    application: application.name,
    recurring: application.recurring ?? [],
  });
  await server.start();

  return {
    query: async (text, values) => (await database.query(text, values)).rows,
    call: async (method, target, json) => {
      const body = json === undefined ? {} : { body: JSON.stringify(json) };
      const headers = { 'content-type': 'application/json', prefer: 'respond-async' };
      const response = await send(`/api/v1${target}`, { method, headers, ...body });
      const text = await response.text();
      return {
        status: response.status,
        headers: response.headers,
        body: text === '' ? undefined : JSON.parse(text),
      };
    },
    enqueue: async (name, args) => {
      const handler = handlers.find(({ definition }) => definition.name === name);
      if (handler === undefined) throw new Error(`The shop has no job "${name}"`);
      return (await client.enqueue(handler.definition, args)).id;
    },
    trigger: async (id) => (await client.recurring.trigger(id))?.id ?? 'no job',
    countJobs: async (name) => (await storage.jobs.count({ name: [name] })).count,
    signal: (orderId, name, data) => client.sendSignal({ correlate: `order:${orderId}` }, name, data),
    resultOf: async (jobId) => {
      const job = await eventually(
        () => storage.jobs.find(jobId),
        (found) => found?.state === 'done',
      );
      return job?.result;
    },
    close: async () => {
      await http.close();
      await server.stop();
      await opened.close();
      await rm(directory, { recursive: true });
    },
  };
}
