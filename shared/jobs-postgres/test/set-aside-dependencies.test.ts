import { expect } from 'chai';
import { acceptPoison, rejectPoison, dropBounds } from './support/poison.js';
import { done, poison, PoisonedStore, tenYearsBefore, work } from './support/poisoned-store.js';

describe('On Postgres, a dependency that cannot be processed', () => {
  let store: PoisonedStore;
  let database: PoisonedStore['database'];
  let storage: PoisonedStore['storage'];
  let client: PoisonedStore['client'];

  beforeEach(async () => {
    store = await PoisonedStore.open();
    ({ database, storage, client } = store);
  });

  afterEach(async () => {
    await store.close();
  });

  it('uses the longest delay if its own is beyond all bounds', async () => {
    await dropBounds(database, 'job_awaiting');
    const parent = await store.enqueue();
    const child = await store.enqueue({}, { after: { parents: [parent] }, delayMs: 1 });
    await database.query(`update longshore.job_awaiting set delay_ms = 1e300 where id = $1`, [child]);
    await store.settle();
    const from = await storage.readClock();
    await storage.completions.complete((await store.claim()).map((held) => ({ claim: held, outcome: done })));
    await store.settle();
    const until = await storage.readClock();
    const job = await storage.jobs.find(child);
    expect(job?.state).to.equal('scheduled');
    expect(tenYearsBefore(job?.runAt)).to.be.within(from, until);
  });

  it('holds up one continuation, and none of its siblings', async () => {
    await rejectPoison(database, 'job');
    await database.query('alter table longshore.job disable trigger refuse');
    const parent = await store.enqueue();
    const after = { parents: [parent] };
    const [first, bad, last] = [
      await store.enqueue({}, { after }),
      await store.enqueue(poison, { after }),
      await store.enqueue({}, { after }),
    ];
    await store.settle();
    await database.query('alter table longshore.job enable trigger refuse');
    await storage.completions.complete((await store.claim()).map((held) => ({ claim: held, outcome: done })));
    await store.settle();
    expect([await store.stateOf(first), await store.stateOf(bad), await store.stateOf(last)]).to.deep.equal([
      'enqueued',
      'awaiting',
      'enqueued',
    ]);
    const items = await store.setAside('resolver');
    expect(items.map(({ jobId, queue, failures }) => ({ jobId, queue, failures }))).to.deep.equal([
      { jobId: bad, queue: 'work', failures: 1 },
    ]);
    expect(items[0]?.error.message).to.equal('poisoned');

    await store.tryAgain();
    await store.settle();
    expect((await store.setAside('resolver'))[0]?.failures).to.equal(2);
    await acceptPoison(database);
    await store.tryAgain();
    await store.settle();
    expect(await store.stateOf(bad)).to.equal('enqueued');
    expect(await store.setAside('resolver')).to.deep.equal([]);
  });

  it('holds up one concurrency key, and no other', async () => {
    await rejectPoison(database, 'job');
    const [bad, good] = [
      await store.enqueue(poison, { concurrency: { key: 'bad', limit: 1 } }),
      await store.enqueue({}, { concurrency: { key: 'good', limit: 1 } }),
    ];
    await store.settle();
    expect((await store.claim()).map(({ jobId }) => jobId)).to.deep.equal([good]);
    expect((await store.setAside('resolver')).map(({ queue }) => queue)).to.deep.equal(['work']);
    await acceptPoison(database);
    await store.tryAgain();
    await store.settle();
    expect((await store.claim()).map(({ jobId }) => jobId)).to.deep.equal([bad]);
  });

  it('unblocks jobs one by one if the limit of their key is invalid', async () => {
    await dropBounds(database, 'job_blocked');
    await store.enqueue({}, { concurrency: { key: 'odd', limit: 5 } });
    await database.query(
      `update longshore.job_blocked set meta = meta || '{"concurrencyLimit": "many"}' where queue_id > 0`,
    );
    const other = await store.enqueue({}, { concurrency: { key: 'fine', limit: 5 } });
    await store.settle();
    const claimed = await store.claim();
    expect(claimed).to.have.length(2);
    expect(claimed.map(({ jobId }) => jobId)).to.include(other);
  });

  it('holds up the child of one parent, and no other', async () => {
    await rejectPoison(database, 'job_scheduled');
    await database.query('alter table longshore.job_scheduled disable trigger refuse');
    const bad = await store.enqueue(poison, { delayMs: 60_000 });
    const good = await store.enqueue();
    const waits = await store.enqueue({}, { after: { parents: [bad] } });
    const runs = await store.enqueue({}, { after: { parents: [good] } });
    await database.query('alter table longshore.job_scheduled enable trigger refuse');
    await store.settle();
    await storage.completions.complete((await store.claim()).map((held) => ({ claim: held, outcome: done })));
    await store.settle();
    expect([await store.stateOf(waits), await store.stateOf(runs)]).to.deep.equal(['awaiting', 'enqueued']);
    expect((await store.setAside('resolver')).map(({ jobId }) => jobId)).to.deep.equal([bad]);
  });

  it('is not counted in its batch, and affects no other', async () => {
    const order = { definition: work, args: {} };
    const [bad, good] = [
      await client.enqueueBatch({ jobs: [order] }),
      await client.enqueueBatch({ jobs: [order] }),
    ];
    await database.query(
      `alter table longshore.batch add constraint poisoned check (id <> '${bad.id}' or done = 0) not valid`,
    );
    await storage.completions.complete((await store.claim()).map((held) => ({ claim: held, outcome: done })));
    await store.settle();
    expect((await storage.batches.find(good.id))?.done).to.equal(1);
    expect((await storage.batches.find(bad.id))?.done).to.equal(0);
    await database.query('alter table longshore.batch drop constraint poisoned');
    await store.tryAgain();
    await store.settle();
    expect((await storage.batches.find(bad.id))?.done).to.equal(1);
  });

  it('is not retried after it has been discarded', async () => {
    await rejectPoison(database, 'job');
    await store.enqueue(poison, { concurrency: { key: 'bad', limit: 1 } });
    await store.settle();
    const [item] = await store.setAside('resolver');
    expect(await storage.setAside.discard(item?.id ?? '')).to.include({ id: item?.id });
    expect(await storage.setAside.discard(item?.id ?? '')).to.equal(null);
    expect((await storage.setAside.count()).resolver).to.equal(0);
    expect(await storage.setAside.retry(item?.id ?? '')).to.equal(null);
  });
});
