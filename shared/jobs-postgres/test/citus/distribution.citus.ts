import { defineJob, JobClient } from '@longshore/jobs';
import { createCitusDatabase, patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import { PostgresStorage } from '../../src/index.js';

const work = defineJob({ name: 'work', queue: 'work' });

describe('A store on Citus', () => {
  let database: TestDatabase;

  beforeEach(async () => {
    database = await createCitusDatabase();
  });
  afterEach(() => database.drop());

  function storageOn(distribution: 'none' | 'citus'): PostgresStorage {
    return new PostgresStorage({ url: database.url, ...patientStorage, distribution });
  }

  async function opened(distribution: 'none' | 'citus'): Promise<PostgresStorage> {
    const storage = storageOn(distribution);
    await storage.open();
    return storage;
  }

  async function errorOf(distribution: 'none' | 'citus'): Promise<string> {
    const storage = storageOn(distribution);
    const message = await storage.open().then(
      () => 'opened',
      (error: unknown) => (error as Error).message,
    );
    await storage.close();
    return message;
  }

  it('keeps the jobs that were there before it was distributed', async () => {
    const before = await opened('none');
    const client = new JobClient(before);
    const ready = await client.enqueue(work, { n: 1 });
    const scheduled = await client.enqueue(work, { n: 2 }, { delayMs: 60_000 });
    const child = await client.enqueue(work, { n: 3 }, { after: { parents: [ready.id] } });
    const { id: serverId } = await before.servers.register({
      host: 'x',
      pid: 1,
      queues: ['work'],
      concurrency: 1,
      timeoutMs: 3_600_000,
    });
    await before.close();

    const storage = await opened('citus');
    expect(await storage.jobs.stateCounts()).to.include({ enqueued: 1, scheduled: 1, awaiting: 1 });
    const jobs = await storage.claims.claim({ serverId, queue: 'work', limit: 10, leaseMs: 3_600_000 });
    expect(jobs.map(({ claim }) => claim.jobId)).to.deep.equal([ready.id]);
    await storage.completions.complete(
      jobs.map(({ claim }) => ({ claim, outcome: { kind: 'done', result: 'null' } })),
    );
    let quiet = 0;
    while (quiet < 3) quiet = (await storage.maintenance.resolveDependencies(500)) === 0 ? quiet + 1 : 0;
    const states = await Promise.all(
      [ready, scheduled, child].map(async ({ id }) => (await storage.jobs.find(id))?.state),
    );
    expect(states).to.deep.equal(['done', 'scheduled', 'enqueued']);
    const { id } = await new JobClient(storage).enqueue(work, { n: 4 });
    expect((await storage.jobs.find(id))?.queue).to.equal('work');
    await storage.close();
    const [{ rows } = { rows: -1 }] = await database.query<{ rows: number }>(
      `select count(*)::integer as rows from pg_dist_partition where logicalrelid::text like 'longshore.%' and partmethod = 'h'`,
    );
    expect(rows).to.be.greaterThan(14);
  });

  it('is distributed once, no matter how many processes open it at the same time', async () => {
    const storages = await Promise.all(Array.from({ length: 5 }, () => opened('citus')));
    const [first] = storages;
    if (first === undefined) throw new Error('There is no storage');
    await new JobClient(first).enqueue(work, {});
    await Promise.all(storages.map((storage) => storage.close()));
    const again = await opened('citus');
    expect(await again.jobs.stateCounts()).to.include({ enqueued: 1 });
    await again.close();
  });

  it('is not opened by a server without the setting', async () => {
    await (await opened('citus')).close();
    expect(await errorOf('none')).to.match(/set DATABASE_DISTRIBUTION=citus/);
  });

  it('needs the extension', async () => {
    await database.query('drop extension citus cascade');
    expect(await errorOf('citus')).to.match(/create extension citus/);
  });
});
