import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { application, seed } from '@longshore/example-shop';
import { type Job, JobClient, type JobDefinition, JobServer } from '@longshore/jobs';
import { PostgresStorage } from '@longshore/jobs-postgres';
import { createResourceApi, type Enqueue } from '@longshore/resources';
import { apiFetch, createTestDatabase, eventually, serve, type TestDatabase } from '@longshore/test-support';
import Koa from 'koa';
import { runner } from 'node-pg-migrate';
import pg from 'pg';

export interface Shop {
  readonly database: TestDatabase;
  readonly call: (method: string, path: string, json?: unknown) => Promise<Answer>;
  readonly enqueue: (name: string, args: unknown) => Promise<string>;
  /** Triggers a recurring job now and returns the id of the enqueued job. */
  readonly trigger: (recurringJobId: string) => Promise<string>;
  /** Counts the jobs with a name in any state. */
  readonly countJobs: (name: string) => Promise<number>;
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

/** Opens a seeded shop with its API and a job server; jobs and tables are in one database. */
export async function openShop(): Promise<Shop> {
  const database = await createTestDatabase(migrate);
  const pool = new pg.Pool({ connectionString: database.url, max: 5 });
  const directory = await mkdtemp(path.join(tmpdir(), 'shop-'));
  const storage = new PostgresStorage({ url: database.url, poolSize: 3 });
  await storage.open();
  const client = new JobClient(storage);
  const handlers = createHandlers({ database: pool, directory });
  const jobs = new Map(handlers.map(({ definition }) => [definition.name, definition]));
  const definitionOf = (name: string): JobDefinition => {
    const definition = jobs.get(name);
    if (definition === undefined) throw new Error(`The shop has no job "${name}"`);
    return definition;
  };
  const enqueue = async (...[transaction, name, args]: Parameters<Enqueue>): Promise<string> =>
    (await client.enqueue(definitionOf(name), args, { transaction })).id;

  const app = new Koa();
  app.use(
    createResourceApi({
      resources,
      baseUrl: 'https://shop.longshore.dev',
      log: { incident: () => {} },
      platform: { database: pool, enqueue },
    }),
  );
  const handle = app.callback();
  const http = await serve((request, response) => void handle(request, response));
  const send = apiFetch(http.url);
  const server = new JobServer({
    storage,
    handlers,
    queues: handlers.map(({ definition }) => definition.queue),
    application: application.name,
    recurring: application.recurring ?? [],
  });
  await server.start();

  return {
    database,
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
    enqueue: async (name, args) => (await client.enqueue(definitionOf(name), args)).id,
    trigger: async (id) => (await client.recurring.trigger(id))?.id ?? 'no job',
    countJobs: async (name) => (await storage.jobs.count({ name: [name] })).count,
    resultOf: async (jobId) => {
      let job: Job | null = null;
      await eventually(async () => (job = await storage.jobs.find(jobId))?.state === 'done');
      return (job as Job | null)?.result;
    },
    close: async () => {
      await http.close();
      await server.stop();
      await storage.close();
      await pool.end();
      await database.drop();
      await rm(directory, { recursive: true });
    },
  };
}
