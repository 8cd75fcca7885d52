import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import {
  freePort,
  runningPostgresUrl,
  startLocalPostgres,
  type LocalPostgres,
} from '@longshore/local-postgres';
import { eventually } from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

const ended = (client: pg.Client) => new Promise<void>((resolve) => void client.once('end', () => resolve()));

describe('startLocalPostgres', () => {
  let directory: string;
  const running: LocalPostgres[] = [];

  const start = async (options: { port?: number; durable?: boolean; database?: string } = {}) => {
    const postgres = await startLocalPostgres({ directory, durable: false, ...options });
    running.push(postgres);
    return postgres;
  };

  before(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'longshore-local-postgres-'));
    // Like a home directory: only its owner can enter. If the tests run as root, Postgres runs as `nobody` and must
    // still be able to use the directory.
    await chmod(directory, 0o700);
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map((postgres) => postgres.stop()));
  });
  after(() => rm(directory, { recursive: true, force: true }));

  it('returns the URL of a Postgres of a supported version', async () => {
    const { url } = await start();
    const [row] = await query(url, "select current_setting('server_version_num')::int / 10000 as major");
    expect(row).to.deep.equal({ major: 18 });
  });

  it('keeps the data of an earlier run', async () => {
    // A stop that takes too long ends in an immediate shutdown, which loses what is not durable.
    const first = await start({ durable: true });
    await query(first.url, 'create table kept as select 42 as answer');
    await first.stop();
    const second = await start();
    expect(await query(second.url, 'select answer from kept')).to.deep.equal([{ answer: 42 }]);
  });

  it('finds the URL of one that is running, for other processes', async () => {
    expect(await runningPostgresUrl(directory)).to.equal(null);
    const postgres = await start();
    expect(await runningPostgresUrl(directory)).to.equal(postgres.url);
    await postgres.stop();
    expect(await runningPostgresUrl(directory)).to.equal(null);
    expect(await runningPostgresUrl(path.join(directory, 'none'))).to.equal(null);
  });

  it('creates the requested database, once', async () => {
    await (await start({ database: 'a "new" one' })).stop();
    const { url } = await start({ database: 'a "new" one' });
    expect(await query(url, 'select current_database() as name')).to.deep.equal([{ name: 'a "new" one' }]);
  });

  it('listens on the given port', async () => {
    const port = await freePort();
    const { url } = await start({ port });
    expect(new URL(url).port).to.equal(String(port));
  });

  it('rejects connections without the password', async () => {
    const url = new URL((await start()).url);
    url.password = 'guess';
    const error = await query(url.href, 'select 1').catch((refusal: unknown) => refusal);
    expect(error).to.be.instanceOf(Error).with.property('code', '28P01');
  });

  it('disconnects clients when it stops', async () => {
    const postgres = await start();
    const client = new pg.Client(postgres.url);
    client.on('error', () => undefined);
    await client.connect();
    const disconnected = ended(client);
    await postgres.stop();
    await disconnected;
  });

  it('starts despite a lock file whose process id now belongs to another program', async () => {
    await (await start()).stop();
    await writeFile(path.join(directory, 'data', 'postmaster.pid'), `${process.pid}\n${directory}/data\n`);
    expect(await query((await start()).url, 'select 1 as one')).to.have.length(1);
  });

  it('rejects a directory that a running Postgres uses', async () => {
    await start();
    const error = await startLocalPostgres({ directory }).catch((refusal: unknown) => refusal);
    expect(error)
      .to.be.instanceOf(Error)
      .with.property('message')
      .that.matches(/already running on/);
  });

  it('reports what Postgres logged when it does not start', async () => {
    const error = await startLocalPostgres({ directory, settings: { shared_buffers: 'plenty' } }).catch(
      (refusal: unknown) => refusal,
    );
    expect(error).to.be.instanceOf(Error).with.property('message').that.includes('shared_buffers');
  });

  it('recovers after the process that started it was killed, and leaves no Postgres running', async () => {
    const program = fileURLToPath(new URL('../src/main.ts', import.meta.url));
    const command = spawn(process.execPath, ['--import=tsx', program, '--directory', directory, '--fast'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const lines = createInterface({ input: command.stdout });
    const [url] = (await once(lines, 'line')) as [string];
    const client = new pg.Client(url);
    client.on('error', () => undefined);
    await client.connect();
    await client.query('create table survivor as select 1 as one');
    const disconnected = ended(client);
    command.kill('SIGKILL');
    await disconnected;

    // Starting is refused as long as the old Postgres is still shutting down.
    const { url: recovered } = await eventually(() => start());
    expect(await query(recovered, 'select one from survivor')).to.deep.equal([{ one: 1 }]);
  });
});

describe('freePort', () => {
  it('returns the preferred port if it is free', async () => {
    const port = await freePort();
    expect(await freePort(port)).to.equal(port);
  });

  it('returns another port if the preferred one is taken', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const taken = typeof address === 'object' ? (address?.port ?? 0) : 0;
    expect(await freePort(taken))
      .to.be.greaterThan(0)
      .and.not.equal(taken);
    server.close();
    await once(server, 'close');
  });

  it('rejects if the system does not provide a port', async () => {
    const original = Object.getOwnPropertyDescriptor(Server.prototype, 'listen') ?? {};
    Server.prototype.listen = function refuse(this: Server) {
      process.nextTick(() => this.emit('error', new Error('listen EMFILE')));
      return this;
    };
    try {
      const error: unknown = await freePort(54_320).catch((thrown: unknown) => thrown);
      expect(String(error)).to.equal('Error: Cannot find a free TCP port on 127.0.0.1: listen EMFILE');
    } finally {
      Object.defineProperty(Server.prototype, 'listen', original);
    }
  });
});
