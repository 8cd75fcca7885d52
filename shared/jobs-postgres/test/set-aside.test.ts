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
      await database.query(
        `update longshore.job_held set meta = meta || '{"concurrencyLimit": "many"}' where queue_id > 0`,
      );
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

  it('waits for the scheduler, and no other job that is due does', async () => {
    await refuse(database, 'job');
    const ids = [
      await enqueue({}, { delayMs: 1 }),
      await enqueue(poison, { delayMs: 1 }),
      await enqueue({}, { delayMs: 1 }),
    ];
    const other = await enqueue({}, { delayMs: 1, queue: 'other' });
    await database.query(`update longshore.job_waiting set run_at = now() where queue_id > 0`);
    const rounds = [await storage.promoteDue(100), await storage.promoteDue(100)];
    expect(rounds.map(({ promoted }) => promoted)).to.deep.equal([3, 0]);
    const states = await Promise.all([...ids, other].map(stateOf));
    expect(states).to.deep.equal(['enqueued', 'scheduled', 'enqueued', 'enqueued']);
    expect((await setAside('scheduler')).map(({ jobId }) => jobId)).to.deep.equal([ids[1]]);

    await accept(database);
    await tryAgain();
    await storage.promoteDue(100);
    expect(await stateOf(ids[1] ?? '')).to.equal('enqueued');
    expect(await setAside('scheduler')).to.deep.equal([]);
  });

  it('does not keep the scheduler from its work, if it waits for a time that never comes', async () => {
    await unbound(database, 'job_waiting');
    const [never, soon] = [
      await enqueue({}, { delayMs: 60_000 }),
      await enqueue({}, { delayMs: 1, queue: 'other' }),
    ];
    await database.query(`update longshore.job_waiting set run_at = 'infinity' where id = $1`, [never]);
    await database.query(`update longshore.job_waiting set run_at = now() where id = $1`, [soon]);
    expect((await storage.promoteDue(100)).promoted).to.equal(1);
    expect((await storage.promoteDue(100)).nextDueMs).to.be.within(0, 86_400_000);
  });

  it('stays with a lost server, and no other job does', async () => {
    await refuse(database, 'job_done');
    const options = { maxAttempts: 1 };
    const ids = [await enqueue({}, options), await enqueue(poison, options), await enqueue({})];
    await claim();
    await database.query('delete from longshore.server');
    expect(await storage.rescue()).to.include({ failed: 1, released: 1 });
    expect(await Promise.all(ids.map(stateOf))).to.deep.equal(['failed', 'processing', 'enqueued']);
    expect((await setAside('rescuer')).map(({ jobId }) => jobId)).to.deep.equal([ids[1]]);
    expect(await storage.rescue()).to.include({ failed: 0, released: 0 });

    await accept(database);
    await tryAgain();
    await storage.rescue();
    expect(await stateOf(ids[1] ?? '')).to.equal('failed');
    expect(await setAside('rescuer')).to.deep.equal([]);
  });

  it('does not fire, and every other recurring job does', async () => {
    for (const id of ['a-bad', 'b-good'])
      await client.recurring.addOrUpdate({ id, definition: work, args: {}, cron: '0 3 * * *' });
    await database.query(`update longshore.recurring_job set cron = 'never' where id = 'a-bad'`);
    await database.query(`update longshore.recurring_job set next_due_at = now()`);
    const { fired } = await storage.recurring.fireDue(100);
    expect(fired.map(({ id }) => id)).to.deep.equal(['b-good']);
    expect((await setAside('recurring')).map(({ key }) => key)).to.deep.equal(['a-bad']);
    expect((await setAside('recurring'))[0]?.error.message).to.contain('"never"');
    expect((await storage.recurring.fireDue(100)).fired).to.deep.equal([]);

    await client.recurring.addOrUpdate({ id: 'a-bad', definition: work, args: {}, cron: '0 3 * * *' });
    await database.query(`update longshore.recurring_job set next_due_at = now() where id = 'a-bad'`);
    expect((await storage.recurring.fireDue(100)).fired.map(({ id }) => id)).to.deep.equal(['a-bad']);
    expect(await setAside('recurring')).to.deep.equal([]);
  });

  it('is passed over by bulk operations', async () => {
    const ids = [await enqueue(), await enqueue(poison), await enqueue()];
    await refuse(database, 'job_done');
    const { id } = await storage.bulk.start({ action: 'cancel', filter: { queue: ['work'] } });
    while (await storage.bulk.advance());
    expect(await storage.bulk.find(id)).to.include({ state: 'done', changed: 2, error: null });
    expect(await Promise.all(ids.map(stateOf))).to.deep.equal(['cancelled', 'enqueued', 'cancelled']);
    expect((await setAside('bulk')).map(({ jobId }) => jobId)).to.deep.equal([ids[1]]);
  });

  it('is passed over by bulk operations on selected jobs', async () => {
    const ids = [await enqueue(), await enqueue(poison), await enqueue()];
    await refuse(database, 'job_done');
    const { id } = await storage.bulk.start({ action: 'cancel', filter: { id: ids } });
    while (await storage.bulk.advance());
    expect(await storage.bulk.find(id)).to.include({ state: 'done', changed: 2, skipped: 1 });
  });

  it('does not keep the cleaner from its other chores', async () => {
    await refuse(database, 'job_done');
    const [bad, good] = [await enqueue(poison), await enqueue()];
    const claims = await claim();
    for (const id of [bad, good]) await storage.cancelJob(id);
    await storage.release(claims);
    await database.query(`
      create function longshore.refuse_fold() returns trigger language plpgsql as $$ begin raise 'no folding'; end $$;
      create trigger refuse_fold before delete on longshore.job_count execute function longshore.refuse_fold()`);
    await database.query(
      `insert into longshore.job_count (queue_id, state, jobs) select 1, 'done', 0 from generate_series(1, 300)`,
    );
    await storage.maintain();
    expect([await stateOf(bad), await stateOf(good)]).to.deep.equal(['enqueued', 'cancelled']);
    const keys = (await setAside('cleaner')).map(({ key }) => key);
    expect(keys).to.have.members(['fold counters', `cancel ${bad}`]);
  });

  it('fails by itself if its outcome cannot be stored', async () => {
    const ids = [await enqueue(), await enqueue(), await enqueue()];
    const claims = await claim();
    const stale = await storage.complete(
      claims.map((held) => ({
        claim: held,
        outcome: held.jobId === ids[1] ? { kind: 'done', result: '"\\u0000"' } : done,
      })),
    );
    expect(stale).to.deep.equal([]);
    expect(await Promise.all(ids.map(stateOf))).to.deep.equal(['done', 'failed', 'done']);
    const error = (await storage.findJob(ids[1] ?? ''))?.error;
    expect(error?.name).to.equal('OutcomeNotStoredError');
    expect(error?.message).to.match(/^Its outcome \(done\) could not be stored: /);
  });

  it('is let go of if not even its failure can be stored', async () => {
    const ids = [await enqueue(), await enqueue(poison)];
    const claims = await claim();
    await refuse(database, 'job_done');
    const stale = await storage.complete(claims.map((held) => ({ claim: held, outcome: done })));
    expect(stale.map(({ jobId }) => jobId)).to.deep.equal([ids[1]]);
    expect(await Promise.all(ids.map(stateOf))).to.deep.equal(['done', 'processing']);
    expect((await setAside('completer')).map(({ jobId }) => jobId)).to.deep.equal([ids[1]]);
  });

  it('is put off by ten years at the most by a handler', async () => {
    const ids = [await enqueue(), await enqueue(), await enqueue()];
    const claims = await claim();
    const error = { name: 'Error', message: 'again', stack: null };
    const outcomes: Outcome[] = [
      { kind: 'snooze', delayMs: 1e300 },
      { kind: 'retry', error, delayMs: Infinity },
      { kind: 'retry', error, delayMs: Number.NaN },
    ];
    await storage.complete(claims.map((held, place) => ({ claim: held, outcome: outcomes[place] ?? done })));
    for (const id of ids) {
      const job = await storage.findJob(id);
      expect(job?.state).to.equal('scheduled');
      expect((job?.runAt?.getTime() ?? 0) - Date.now()).to.be.closeTo(315_360_000_000, 600_000);
    }
  });

  it('is told of once, however often it fails', async () => {
    const told: string[] = [];
    storage.setAside.listen(({ role, jobId, error }) => told.push(`${role} ${jobId} ${error.message}`));
    await refuse(database, 'job');
    const id = await enqueue(poison, { delayMs: 1 });
    await database.query(`update longshore.job_waiting set run_at = now() where queue_id > 0`);
    for (let round = 0; round < 3; round++) {
      await storage.promoteDue(100);
      await tryAgain();
    }
    expect(told).to.deep.equal([`scheduler ${id} poisoned`]);
    expect((await setAside('scheduler'))[0]?.failures).to.equal(3);
  });

  it('stops its role if it is too much to be a matter of single items', async () => {
    await refuse(database, 'job');
    await database.query(`
      insert into longshore.set_aside (role, key, error)
      select 'scheduler', longshore.new_id()::text, '{"name": "Error", "message": "", "stack": null}' from generate_series(1, 1000)`);
    await enqueue(poison, { delayMs: 1 });
    await database.query(`update longshore.job_waiting set run_at = now() where queue_id > 0`);
    const error: unknown = await storage.promoteDue(100).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(Error).with.property('message', 'poisoned');
  });
});
