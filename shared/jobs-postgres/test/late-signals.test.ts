import { type Claim, newId } from '@longshore/jobs/storage';
import { eventually, patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import { PostgresStorage } from '../src/index.js';
import { createStoreDatabase } from './support/store-database.js';

const hourMs = 3_600_000;

describe('Suspended jobs and late signals on Postgres', () => {
  let database: TestDatabase;
  let storage: PostgresStorage;
  let sender: pg.Client;

  before(async () => {
    database = await createStoreDatabase();
    storage = new PostgresStorage({ url: database.url, ...patientStorage });
    await storage.open();
    sender = new pg.Client(database.url);
    await sender.connect();
  });

  after(async () => {
    await sender.end();
    await storage.close();
    await database.drop();
  });

  async function claimOne(queue: string): Promise<Claim> {
    const id = newId();
    const job = { id, queue, name: 'work', args: '{}', priority: 0, maxAttempts: 3, due: null };
    await storage.enqueuer.enqueue([job]);
    const description = { host: 'x', pid: 1, queues: [queue], concurrency: 1, timeoutMs: hourMs };
    const server = await storage.servers.register(description);
    await storage.claims.claim({ serverId: server.id, queue, limit: 1, leaseMs: hourMs });
    return { jobId: id, queue, serverId: server.id, attempt: 1 };
  }

  const suspend = (claim: Claim): Promise<Claim[]> =>
    storage.completions.complete([
      {
        claim,
        outcome: {
          kind: 'suspend',
          until: new Date(Date.now() + hourMs),
          awaits: { packed: 1 },
          cancels: [],
        },
      },
    ]);

  async function move(jobId: string, queue: string): Promise<void> {
    await storage.control.edit(
      [jobId],
      async (jobs) =>
        new Map(
          [...jobs].map(([id, { args, ...job }]) => [id, { ...job, args: JSON.stringify(args), queue }]),
        ),
    );
  }

  const settle = async (): Promise<void> => {
    while ((await storage.maintenance.resolveDependencies(100)) > 0);
    await storage.maintenance.promoteDue(100);
  };

  const untilAwake = (id: string): Promise<unknown> =>
    eventually(
      async () => {
        await settle();
        return (await storage.jobs.find(id))?.state;
      },
      (state) => state === 'enqueued',
    );

  const send: Readonly<Record<string, (id: string) => Promise<unknown>>> = {
    'the client': (id) => storage.steps.signal(id, { name: 'packed' }, { transaction: sender }),
    'longshore.signal()': (id) => sender.query(`select longshore.signal($1, 'packed')`, [id]),
  };

  for (const [way, signal] of Object.entries(send)) {
    it(`a signal that is committed late wakes a job that was suspended meanwhile: ${way}`, async () => {
      const claim = await claimOne('work');
      await sender.query('begin');
      await signal(claim.jobId);
      await suspend(claim);
      await settle();
      expect(await storage.jobs.find(claim.jobId)).to.include({ state: 'scheduled' });
      await sender.query('commit');
      await untilAwake(claim.jobId);
    });

    it(`a signal that is committed late follows a job that was moved to another queue meanwhile: ${way}`, async () => {
      const claim = await claimOne('work');
      await suspend(claim);
      await sender.query('begin');
      await signal(claim.jobId);
      await move(claim.jobId, 'other');
      await settle();
      await sender.query('commit');
      await untilAwake(claim.jobId);
      const { signals } = await storage.steps.read({ id: claim.jobId, queue: 'other' });
      expect(signals.map(({ name }) => name)).to.deep.equal(['packed']);
    });

    it(`a signal that is rolled back changes nothing: ${way}`, async () => {
      const claim = await claimOne('work');
      await suspend(claim);
      await sender.query('begin');
      await signal(claim.jobId);
      await sender.query('rollback');
      await settle();
      expect(await storage.jobs.find(claim.jobId)).to.include({ state: 'scheduled' });
    });
  }

  it('a suspension that is reported twice is not stale', async () => {
    const claim = await claimOne('work');
    expect([await suspend(claim), await suspend(claim)]).to.deep.equal([[], []]);
  });
});
