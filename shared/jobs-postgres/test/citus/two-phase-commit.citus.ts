import { defineJob, JobClient } from '@longshore/jobs';
import { createCitusDatabase, patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import { PostgresStorage } from '../../src/index.js';

const work = defineJob({ name: 'work', queue: 'work' });
const lease = { queue: 'work', limit: 10, leaseMs: 3_600_000 };

/**
 * These tests record the commands, such as `COMMIT`, that Citus sends to other nodes. Citus reports these commands to
 * the client in notices.
 */
describe('On Citus,', () => {
  let database: TestDatabase;
  let storage: PostgresStorage;
  let pool: pg.Pool;
  let client: JobClient;
  let commands: string[];

  before(async () => {
    database = await createCitusDatabase();
    await database.query(`alter database ${database.name} set citus.log_remote_commands = on`);
    await database.query(`alter database ${database.name} set client_min_messages = notice`);
    pool = new pg.Pool({ connectionString: database.url, max: 4 });
    pool.on('connect', (connection) => {
      connection.on('notice', ({ message }) => {
        const [, command] = /issuing (.*)/.exec(message ?? '') ?? [];
        if (command !== undefined) commands.push(command);
      });
    });
    commands = [];
    storage = new PostgresStorage({ pool, ...patientStorage, distribution: 'citus' });
    client = new JobClient(storage);
    await storage.open();
    await client.enqueue(work, {});
  });
  after(async () => {
    await storage.close();
    await pool.end();
    await database.drop();
  });
  beforeEach(() => {
    commands = [];
  });

  const commits = (): string[] =>
    commands
      .filter((command) => /^(COMMIT|PREPARE TRANSACTION)/.test(command))
      .map((command) => command.split(' ')[0] ?? '');

  async function register(): Promise<string> {
    const { id } = await storage.servers.register({
      host: 'x',
      pid: 1,
      queues: ['work'],
      concurrency: 1,
      timeoutMs: 3_600_000,
    });
    return id;
  }

  it('a job is enqueued, claimed and completed in transactions of its node alone', async () => {
    const serverId = await register();
    await client.enqueue(work, {});
    expect(commits()).to.deep.equal(['COMMIT']);
    commands = [];
    const jobs = await storage.claims.claim({ serverId, ...lease });
    expect(commits()).to.deep.equal(['COMMIT']);
    commands = [];
    await storage.completions.complete(
      jobs.map(({ claim }) => ({ claim, outcome: { kind: 'done', result: 'null' } })),
    );
    expect(commits()).to.deep.equal(['COMMIT']);
  });

  it('a job in a caller’s transaction is committed with the caller’s rows in two phases', async () => {
    await database.query('create table if not exists receipt (id integer)');
    const connection = await pool.connect();
    await connection.query('begin');
    await connection.query('insert into receipt values (1)');
    await client.enqueue(work, {}, { transaction: connection });
    await connection.query('commit');
    connection.release();
    expect(commits()).to.deep.equal(['PREPARE', 'COMMIT']);
  });

  it('a job enqueued with SQL is committed in two phases', async () => {
    await pool.query(`select longshore.enqueue('work', '{}', 'work')`);
    expect(commits()).to.deep.equal(['PREPARE', 'COMMIT']);
  });

  it('a handler’s rows are committed with the end of its job in two phases', async () => {
    await database.query('create table if not exists receipt (id integer)');
    const serverId = await register();
    await client.enqueue(work, {});
    const [job] = await storage.claims.claim({ serverId, ...lease });
    if (job === undefined) throw new Error('There is no job');
    commands = [];
    await storage.completions.completeInTransaction(job.claim, async (connection) => {
      await connection.query('insert into receipt values (2)');
      return 'null';
    });
    expect(commits()).to.deep.equal(['PREPARE', 'COMMIT']);
  });

  it('a job and what it depends on are committed in two phases', async () => {
    const { id } = await client.enqueue(work, {});
    commands = [];
    await client.enqueue(work, {}, { after: { parents: [id] } });
    expect(commits()).to.include('PREPARE');
  });
});
