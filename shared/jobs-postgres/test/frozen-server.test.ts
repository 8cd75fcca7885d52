import { defineJob, JobClient } from '@longshore/jobs';
import { patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import { defaultSchema, Schema } from '../src/connection/schema.js';
import { PostgresStorage } from '../src/index.js';
import { createStoreDatabase } from './support/store-database.js';

describe('A server that freezes in a transaction', () => {
  let database: TestDatabase;
  let frozen: PostgresStorage;
  let other: PostgresStorage;

  before(async () => {
    database = await createStoreDatabase();
    [frozen, other] = [database.url, database.url].map(
      (url) => new PostgresStorage({ url, ...patientStorage }),
    ) as [PostgresStorage, PostgresStorage];
    await frozen.open();
    await other.open();
  });

  after(async () => {
    await frozen.close();
    await other.close();
    await database.drop();
  });

  it('delays none of its jobs once it has been declared dead', async () => {
    const { id } = await new JobClient(frozen).enqueue(defineJob({ name: 'work' }), {});
    const registration = await frozen.servers.register({
      host: 'here',
      pid: 1,
      queues: ['default'],
      concurrency: 1,
      timeoutMs: 3_600_000,
    });
    const { id: serverId } = registration;
    const [job] = await frozen.claims.claim({ serverId, queue: 'default', limit: 1, leaseMs: 3_600_000 });
    if (job === undefined) throw new Error('Nothing was claimed');
    let thaw: () => void = () => undefined;
    const thawed = new Promise<void>((resolve) => {
      thaw = resolve;
    });
    let begin: () => void = () => undefined;
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const late = frozen.completions.completeInTransaction(job.claim, async () => {
      begin();
      await thawed;
      return '"late"';
    });
    await begun;

    await database.query('update longshore.server set timeout_ms = 0 where id = $1', [serverId]);
    const report = await other.maintenance.rescue();
    thaw();
    const error = await late.catch((thrown: unknown) => thrown);
    await registration.unregister();
    expect(report).to.deep.include({ deadServers: [serverId], released: 1 });
    expect(error).to.be.instanceOf(Error);
    expect((await other.jobs.find(id))?.state).to.equal('enqueued');
  });

  it('delays nothing even if the process that declared it dead ended before its transactions', async () => {
    const { id: serverId } = await frozen.servers.register({
      host: 'here',
      pid: 1,
      queues: ['default'],
      concurrency: 1,
      timeoutMs: 3_600_000,
    });
    const transaction = new pg.Client({
      connectionString: database.url,
      application_name: new Schema(defaultSchema).transactionName(serverId),
    });
    const ended = new Promise((resolve) => transaction.on('error', resolve));
    await transaction.connect();
    await transaction.query('begin');
    await database.query('delete from longshore.server where id = $1', [serverId]);
    await other.maintenance.rescue();
    expect(await ended).to.have.property('code', '57P01');
  });

  it('is declared dead even if it froze in the middle of a claim', async () => {
    const { id: serverId } = await frozen.servers.register({
      host: 'here',
      pid: 1,
      queues: ['default'],
      concurrency: 1,
      timeoutMs: 3_600_000,
    });
    const claim = new pg.Client({
      connectionString: database.url,
      application_name: new Schema(defaultSchema).transactionName(serverId),
    });
    claim.on('error', () => undefined);
    await claim.connect();
    await claim.query('begin');
    await claim.query('select from longshore.server where id = $1 for key share', [serverId]);
    await database.query('update longshore.server set timeout_ms = 0 where id = $1', [serverId]);
    expect((await other.maintenance.rescue()).deadServers).to.deep.equal([serverId]);
    await claim.end();
  });
});
