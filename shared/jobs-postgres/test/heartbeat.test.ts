import { readFile } from 'node:fs/promises';
import { eventually, patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import { databaseOptions } from '../src/connection/options.js';
import { Heartbeats } from '../src/servers/heartbeat.js';
import { PostgresStorage } from '../src/index.js';
import { blockUntil } from './support/blocked-thread.js';
import { createStoreDatabase } from './support/store-database.js';

/**
 * Server timeout, in milliseconds: the least that a server accepts. A third of it passes between two heartbeats, and a
 * heartbeat fails if its answer takes longer than that.
 */
const timeoutMs = 5_000;

describe('The heartbeat of a server on Postgres', () => {
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

  const register = () =>
    storage.servers.register({ host: 'here', pid: 1, queues: ['default'], concurrency: 1, timeoutMs });

  const heartbeatOf = async (id: string): Promise<number> => {
    const server = (await storage.servers.list()).find((candidate) => candidate.id === id);
    return server?.heartbeatAt.getTime() ?? Number.NaN;
  };

  it('continues while the event loop is blocked', async () => {
    const registration = await register();
    const first = await heartbeatOf(registration.id);
    await eventually(
      () => heartbeatOf(registration.id),
      (last) => last > first,
    ); // the heartbeat thread is running
    blockUntil(
      database.url,
      'select from longshore.server where heartbeat_at > $1::timestamptz and id = $2',
      [registration.id],
    );
    await registration.unregister();
  });

  it('reports the number of running jobs', async () => {
    const registration = await register();
    registration.report(7);
    await eventually(
      async () => (await storage.servers.list()).find(({ id }) => id === registration.id),
      (server) => server?.processing === 7,
    );
    await registration.unregister();
  });

  it('reports how far the server’s clock is from that of Postgres', async () => {
    const registration = await register();
    const server = await eventually(
      async () => (await storage.servers.list()).find(({ id }) => id === registration.id),
      (found) => found !== undefined && found.clockAheadMs !== null,
    );
    // Both clocks are those of this machine. The answer to a measurement takes at most a second, which makes the
    // difference wrong by at most half a second.
    expect(server?.clockAheadMs).to.be.within(-500, 500);
    await registration.unregister();
  });

  it('detects that the server has been declared dead', async () => {
    const registration = await register();
    await database.query('delete from longshore.server where id = $1', [registration.id]);
    await eventually(() => registration.lost.aborted);
    await registration.unregister();
  });

  it('shares a connection with those of the other servers of the storage', async () => {
    const registrations = [await register(), await register()];
    const heartbeats = await Promise.all(registrations.map(({ id }) => heartbeatOf(id)));
    for (const [index, { id }] of registrations.entries())
      await eventually(
        () => heartbeatOf(id),
        (last) => last > (heartbeats[index] ?? 0),
      );
    const connections = await database.query(
      `select from pg_stat_activity where application_name like '% heartbeat' and datname = current_database()`,
    );
    await Promise.all(registrations.map((registration) => registration.unregister()));
    expect(connections).to.have.length(1);
  });

  it('continues while the row of another server is locked', async () => {
    const [locked, other] = [await register(), await register()];
    const client = new pg.Client(database.url);
    await client.connect();
    await client.query('begin');
    await client.query('select from longshore.server where id = $1 for update', [locked.id]);
    const [lockedAt, since] = [await heartbeatOf(locked.id), await heartbeatOf(other.id)];
    await eventually(
      () => heartbeatOf(other.id),
      (last) => last > since,
    );
    const next = await heartbeatOf(other.id);
    await eventually(
      () => heartbeatOf(other.id),
      (last) => last > next,
    );
    const held = await heartbeatOf(locked.id);
    await client.end();
    await eventually(
      () => heartbeatOf(locked.id),
      (last) => last > lockedAt,
    );
    await Promise.all([locked.unregister(), other.unregister()]);
    expect([held, locked.lost.aborted]).to.deep.equal([lockedAt, false]);
  });
});

describe('The thread that sends heartbeats', () => {
  const database = databaseOptions({ url: 'postgres://nobody@127.0.0.1:1/none', ...patientStorage });
  const program = (text: string): URL => new URL(`data:text/javascript,${encodeURIComponent(text)}`);

  for (const [title, text] of [
    ['fails', 'throw new Error("crashed")'],
    ['ends', 'process.exit()'],
  ] as const) {
    it(`makes its servers count as lost if it ${title}, and another one starts with the next server`, async () => {
      const heartbeats = new Heartbeats(database, program(text));
      for (const id of ['first', 'second']) {
        const { lost } = heartbeats.start(id, 60_000, () => undefined);
        await eventually(() => lost.aborted);
        expect(lost.reason).to.be.instanceOf(Error);
      }
      await heartbeats.close();
    });
  }

  it('is terminated if it does not answer when the storage closes', async () => {
    const heartbeats = new Heartbeats(database, program('setInterval(() => undefined, 60_000)'));
    const { lost } = heartbeats.start('server', 60_000, () => undefined);
    await heartbeats.close(); // resolves when the thread has ended
    expect(lost.aborted).to.equal(false);
  });

  it('loads no package before its first heartbeat, because every server starts it', async () => {
    const packages: string[] = [];
    const seen = new Set<string>();
    const visit = async (file: URL): Promise<void> => {
      if (seen.has(file.href)) return;
      seen.add(file.href);
      const text = await readFile(file, 'utf8');
      for (const [, from = ''] of text.matchAll(/^(?:import|export)\b[^;]*?\bfrom '([^']+)'/gm))
        if (from.startsWith('.')) await visit(new URL(from, file));
        else if (!from.startsWith('node:')) packages.push(`${from} in ${file.pathname.split('/').at(-1)}`);
    };
    await visit(new URL('../dist/servers/heartbeat-thread.js', import.meta.url));
    expect(packages).to.deep.equal([]);
    expect(seen.size).to.be.above(3);
  });
});
