import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { createHandlers, jobs, migrations, resources, seed } from '@longshore/example-shop';
import { createResourceApi } from '@longshore/resources';
import { createTestDatabase, serve, type TestDatabase } from '@longshore/test-support';
import Koa from 'koa';
import { runner } from 'node-pg-migrate';
import pg from 'pg';

export interface Shop {
  readonly database: TestDatabase;
  readonly call: (method: string, path: string, json?: unknown) => Promise<Answer>;
  /** Runs the jobs that have been enqueued, and returns their results. */
  readonly runJobs: () => Promise<unknown[]>;
  readonly runJob: (name: string, args: unknown) => Promise<unknown>;
  readonly close: () => Promise<void>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
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
  await client.query(
    'create table enqueued (id uuid primary key default gen_random_uuid(), job text, args jsonb)',
  );
  await seed(client);
  await client.end();
}

/**
 * The seeded shop behind its API. Jobs are enqueued into a table within the transaction, as the job store does it, and
 * run when a test asks.
 */
export async function openShop(): Promise<Shop> {
  const database = await createTestDatabase(migrate);
  const pool = new pg.Pool({ connectionString: database.url, max: 5 });
  const directory = await mkdtemp(path.join(tmpdir(), 'shop-'));
  const app = new Koa();
  app.use(
    createResourceApi({
      resources,
      baseUrl: 'https://shop.longshore.dev',
      log: { incident: () => {} },
      platform: {
        database: pool,
        enqueue: async (transaction, name, args) => {
          jobs.find((job) => job.name === name)?.serialize(args);
          const { rows } = await transaction.query<{ id: string }>(
            'insert into enqueued (job, args) values ($1, $2) returning id',
            [name, args],
          );
          return rows[0]?.id ?? '';
        },
      },
    }),
  );
  const handle = app.callback();
  const server = await serve((request, response) => void handle(request, response));
  const handlers = createHandlers({ database: pool, directory });
  const runJob = async (name: string, args: unknown): Promise<unknown> => {
    const handler = handlers.find(({ definition }) => definition.name === name);
    const job = { id: name, name, queue: 'default', attempt: 1, maxAttempts: 1, createdAt: new Date(0) };
    const transaction = (): never => {
      throw new Error('No job of the shop completes within a transaction');
    };
    return handler?.run({ args, job, transaction, signal: new AbortController().signal });
  };

  return {
    database,
    call: async (method, target, json) => {
      const body = json === undefined ? {} : { body: JSON.stringify(json) };
      const headers = { 'content-type': 'application/json', prefer: 'respond-async' };
      const response = await fetch(`${server.url}/api/v1${target}`, { method, headers, ...body });
      const text = await response.text();
      return {
        status: response.status,
        headers: response.headers,
        body: text === '' ? undefined : JSON.parse(text),
      };
    },
    runJob,
    runJobs: async () => {
      const rows = await database.query<{ job: string; args: unknown }>(
        'delete from enqueued returning job, args',
      );
      return Promise.all(rows.map(({ job, args }) => runJob(job, args)));
    },
    close: async () => {
      await server.close();
      await pool.end();
      await database.drop();
      await rm(directory, { recursive: true });
    },
  };
}
