import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { defineJob, handleJob, JobClient, JobServer } from '@longshore/jobs';
import { eventually, patientServer, patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import { PostgresStorage } from '../src/index.js';
import { blockUntil } from './support/blocked-thread.js';
import { createStoreDatabase } from './support/store-database.js';

/** Server timeout, in milliseconds: the least that a server accepts. Its heartbeats are sent at a third of it. */
const serverTimeoutMs = 5_000;

/** How often the other process looks for dead servers. Together, the heartbeats that it waits for exceed the timeout. */
const searches = 4;

/**
 * Returns the source of a program that waits until the handler blocks its process, and then rescues jobs several times.
 * Before each search, it makes the server look as if it had been silent for two hours, twice its timeout, and waits for
 * a heartbeat. Without that heartbeat, it waits forever. Finally, it lets the handler go on, and prints the number of
 * dead servers and lost jobs that it found.
 */
const rescuer = (url: string): string => `
  import pg from 'pg';
  import { PostgresStorage } from ${JSON.stringify(new URL('../dist/index.js', import.meta.url).href)};
  const storage = new PostgresStorage({ url: ${JSON.stringify(url)}, ...${JSON.stringify(patientStorage)} });
  const client = new pg.Client(${JSON.stringify(url)});
  await client.connect();
  const until = async (sql) => {
    while ((await client.query(sql)).rowCount === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  };
  await until('select from public.blocked');
  // What the blocked process has sent to Postgres before it was blocked, perhaps a search for dead servers, has ended.
  await until(\`select where not exists (select from pg_stat_activity where state <> 'idle' and application_name = 'longshore'
    and pid <> pg_backend_pid() and datname = current_database())\`);
  let found = 0;
  for (let search = 0; search < ${searches}; search++) {
    await client.query("update longshore.server set heartbeat_at = now() - interval '2 hours'");
    await until("select from longshore.server where heartbeat_at > now() - interval '1 hour'");
    const { deadServers, released, failed } = await storage.maintenance.rescue();
    found += deadServers.length + released + failed;
  }
  await client.query('insert into public.searched values (true)');
  console.log(found);
  await Promise.all([client.end(), storage.close()]);
  process.exit();`;

describe('A server whose handler blocks the event loop', () => {
  let database: TestDatabase;
  let storage: PostgresStorage;

  before(async () => {
    database = await createStoreDatabase();
    storage = new PostgresStorage({ url: database.url, ...patientStorage });
    await storage.open();
  });

  after(async () => {
    await storage.close();
    await database.drop();
  });

  it('is not declared dead by another process beyond its timeout, and the job runs once', async () => {
    await database.query('create table public.blocked (since timestamptz)');
    await database.query('create table public.searched (done boolean)');
    const blocking = defineJob({ name: 'blocking' });
    let runs = 0;
    const handler = handleJob(blocking, () => {
      runs++;
      blockUntil(
        database.url,
        `with blocked as (insert into public.blocked select $1::timestamptz where not exists (select from public.blocked))
         select from public.searched`,
        [],
      );
    });
    const other = spawn(process.execPath, ['--input-type=module', '-e', rescuer(database.url)], {
      cwd: import.meta.dirname,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const printed = text(other.stdout);
    const server = new JobServer({ storage, handlers: [handler], ...patientServer, serverTimeoutMs });
    try {
      await server.start();
      // Its own timeout only makes its heartbeats frequent: a busy machine may make them late by seconds.
      await database.query('update longshore.server set timeout_ms = $1', [patientServer.serverTimeoutMs]);
      const { id } = await new JobClient(storage).enqueue(blocking, {});
      await eventually(
        () => storage.jobs.find(id),
        (job) => job?.state === 'done' || job?.state === 'failed',
      );
      expect((await storage.jobs.listAttempts(id)).map(({ outcome }) => outcome)).to.deep.equal(['done']);
      expect({ runs, found: (await printed).trim() }).to.deep.equal({ runs: 1, found: '0' });
    } finally {
      other.kill();
      await server.stop();
    }
  });
});
