import {
  type Claim,
  defineJob,
  JobClient,
  type JobState,
  type Outcome,
  type SetAsideItem,
  type SetAsideRole,
} from '@longshore/jobs';
import type { TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import { PostgresStorage } from '../src/index.js';
import { accept, refuse, unbound } from './support/poison.js';
import { createStoreDatabase } from './support/store-database.js';

const done: Outcome = { kind: 'done', result: 'null' };
const poison = { poison: true };

describe('On Postgres, what is poisoned', () => {
  const work = defineJob({ name: 'work', queue: 'work' });
  let database: TestDatabase;
  let storage: PostgresStorage;
  let client: JobClient;

  beforeEach(async () => {
    database = await createStoreDatabase();
    storage = new PostgresStorage({ url: database.url });
    await storage.open();
    client = new JobClient(storage);
  });

  afterEach(async () => {
    await storage.close();
    await database.drop();
  });

  const enqueue = async (
    args: object = {},
    options: Parameters<JobClient['enqueue']>[2] = {},
  ): Promise<string> => (await client.enqueue(work, args, options)).id;

  const stateOf = async (id: string): Promise<JobState | undefined> => (await storage.findJob(id))?.state;

  const setAside = async (role: SetAsideRole): Promise<SetAsideItem[]> =>
    (await storage.setAside.list({ limit: 100 })).filter((item) => item.role === role);

  async function settle(): Promise<void> {
    let quiet = 0;
    while (quiet < 3) quiet = (await storage.settle(500)) === 0 ? quiet + 1 : 0;
  }

  async function claim(limit = 100): Promise<Claim[]> {
    const { id: serverId } = await storage.registerServer({
      host: 'x',
      pid: 1,
      queues: ['work'],
      concurrency: 1,
      timeoutMs: 60_000,
    });
    const jobs = await storage.claim({ serverId, queue: 'work', limit, leaseMs: 60_000 });
    return jobs.map((job) => job.claim);
  }

  /** What was set aside is due again. */
  async function tryAgain(): Promise<void> {
    for (const { id } of await storage.setAside.list({ limit: 100 })) await storage.setAside.retry(id);
  }

  describe('for the resolver', () => {
    it('releases a continuation whose delay is beyond all bounds at the longest delay', async () => {
      await unbound(database, 'job_awaiting');
      const parent = await enqueue();
      const child = await enqueue({}, { after: { parents: [parent] }, delayMs: 1 });
      await database.query(`update longshore.job_awaiting set delay_ms = 1e300 where id = $1`, [child]);
      await settle();
      await storage.complete((await claim()).map((held) => ({ claim: held, outcome: done })));
      await settle();
      const job = await storage.findJob(child);
      expect(job?.state).to.equal('scheduled');
      expect((job?.runAt?.getTime() ?? 0) - Date.now()).to.be.closeTo(315_360_000_000, 600_000);
    });

    it('keeps one continuation from running, and none of its siblings', async () => {
      await refuse(database, 'job');
      await database.query('alter table longshore.job disable trigger refuse');
      const parent = await enqueue();
      const after = { parents: [parent] };
      const [first, bad, last] = [
        await enqueue({}, { after }),
        await enqueue(poison, { after }),
        await enqueue({}, { after }),
      ];
      await settle();
      await database.query('alter table longshore.job enable trigger refuse');
      await storage.complete((await claim()).map((held) => ({ claim: held, outcome: done })));
      await settle();
      expect([await stateOf(first), await stateOf(bad), await stateOf(last)]).to.deep.equal([
        'enqueued',
        'awaiting',
        'enqueued',
      ]);
      const items = await setAside('resolver');
      expect(items.map(({ jobId, queue, failures }) => ({ jobId, queue, failures }))).to.deep.equal([
        { jobId: bad, queue: 'work', failures: 1 },
      ]);
      expect(items[0]?.error.message).to.equal('poisoned');

      await tryAgain();
      await settle();
      expect((await setAside('resolver'))[0]?.failures).to.equal(2);
      await accept(database);
      await tryAgain();
      await settle();
      expect(await stateOf(bad)).to.equal('enqueued');
      expect(await setAside('resolver')).to.deep.equal([]);
    });

    it('keeps one concurrency key from moving, and no other', async () => {
      await refuse(database, 'job');
      const [bad, good] = [
        await enqueue(poison, { concurrency: { key: 'bad', limit: 1 } }),
        await enqueue({}, { concurrency: { key: 'good', limit: 1 } }),
      ];
      await settle();
      expect((await claim()).map(({ jobId }) => jobId)).to.deep.equal([good]);
      expect((await setAside('resolver')).map(({ queue }) => queue)).to.deep.equal(['work']);
      await accept(database);
      await tryAgain();
      await settle();
      expect((await claim()).map(({ jobId }) => jobId)).to.deep.equal([bad]);
    });

    it('lets jobs of a key in one by one whose limit cannot be read', async () => {
      await unbound(database, 'job_held');
      await enqueue({}, { concurrency: { key: 'odd', limit: 5 } });
      await database.query(`update longshore.job_held set meta = meta || '{"concurrencyLimit": "many"}' where queue_id > 0`);
      const other = await enqueue({}, { concurrency: { key: 'fine', limit: 5 } });
      await settle();
      const claimed = await claim();
      expect(claimed).to.have.length(2);
      expect(claimed.map(({ jobId }) => jobId)).to.include(other);
    });

    it('keeps a parent that cannot be told from its child, and no other parent', async () => {
      await refuse(database, 'job_waiting');
      await database.query('alter table longshore.job_waiting disable trigger refuse');
      const bad = await enqueue(poison, { delayMs: 60_000 });
      const good = await enqueue();
      const waits = await enqueue({}, { after: { parents: [bad] } });
      const runs = await enqueue({}, { after: { parents: [good] } });
      await database.query('alter table longshore.job_waiting enable trigger refuse');
      await settle();
      await storage.complete((await claim()).map((held) => ({ claim: held, outcome: done })));
      await settle();
      expect([await stateOf(waits), await stateOf(runs)]).to.deep.equal(['awaiting', 'enqueued']);
      expect((await setAside('resolver')).map(({ jobId }) => jobId)).to.deep.equal([bad]);
    });

    it('keeps its batch from being counted, and no other', async () => {
      const order = { definition: work, args: {} };
      const [bad, good] = [
        await client.enqueueBatch({ jobs: [order] }),
        await client.enqueueBatch({ jobs: [order] }),
      ];
      await database.query(
        `alter table longshore.batch add constraint poisoned check (id <> '${bad.id}' or done = 0) not valid`,
      );
      await storage.complete((await claim()).map((held) => ({ claim: held, outcome: done })));
      await settle();
      expect((await storage.findBatch(good.id))?.done).to.equal(1);
      expect((await storage.findBatch(bad.id))?.done).to.equal(0);
      await database.query('alter table longshore.batch drop constraint poisoned');
      await tryAgain();
      await settle();
      expect((await storage.findBatch(bad.id))?.done).to.equal(1);
    });

    it('is not tried again when it has been given up', async () => {
      await refuse(database, 'job');
      await enqueue(poison, { concurrency: { key: 'bad', limit: 1 } });
      await settle();
      const [item] = await setAside('resolver');
      expect(await storage.setAside.discard(item?.id ?? '')).to.equal(true);
      expect(await storage.setAside.discard(item?.id ?? '')).to.equal(false);
      expect((await storage.setAside.count()).resolver).to.equal(0);
      expect(await storage.setAside.retry(item?.id ?? '')).to.equal(false);
    });
  });
});
