import type { Outcome } from '@longshore/jobs/storage';
import { eventually } from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import { deleteOldAside } from '../src/records/set-aside.js';
import { acceptPoison, history, rejectPoison, dropBounds } from './support/poison.js';
import { done, poison, PoisonedStore, tenYearsBefore, work } from './support/poisoned-store.js';

describe('On Postgres, an item that cannot be processed', () => {
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

  it('is not scheduled, and all other due jobs are', async () => {
    await rejectPoison(database, 'job');
    const ids = [
      await store.enqueue({}, { delayMs: 1 }),
      await store.enqueue(poison, { delayMs: 1 }),
      await store.enqueue({}, { delayMs: 1 }),
    ];
    const other = await store.enqueue({}, { delayMs: 1, queue: 'other' });
    await database.query(`update longshore.job_scheduled set run_at = now() where queue_id > 0`);
    const rounds = [await storage.maintenance.promoteDue(100), await storage.maintenance.promoteDue(100)];
    expect(rounds.map(({ promoted }) => promoted)).to.deep.equal([3, 0]);
    const states = await Promise.all([...ids, other].map(store.stateOf));
    expect(states).to.deep.equal(['enqueued', 'scheduled', 'enqueued', 'enqueued']);
    expect((await store.setAside('scheduler')).map(({ jobId }) => jobId)).to.deep.equal([ids[1]]);

    await acceptPoison(database);
    await store.tryAgain();
    await storage.maintenance.promoteDue(100);
    expect(await store.stateOf(ids[1] ?? '')).to.equal('enqueued');
    expect(await store.setAside('scheduler')).to.deep.equal([]);
  });

  it('does not block the scheduler if its time is infinite', async () => {
    await dropBounds(database, 'job_scheduled');
    const [never, soon] = [
      await store.enqueue({}, { delayMs: 60_000 }),
      await store.enqueue({}, { delayMs: 1, queue: 'other' }),
    ];
    await database.query(`update longshore.job_scheduled set run_at = 'infinity' where id = $1`, [never]);
    await database.query(`update longshore.job_scheduled set run_at = now() where id = $1`, [soon]);
    expect((await storage.maintenance.promoteDue(100)).promoted).to.equal(1);
    expect((await storage.maintenance.promoteDue(100)).nextDueMs).to.be.within(0, 86_400_000);
  });

  it('stays with a lost server, and no other job does', async () => {
    await rejectPoison(database, ...history);
    const options = { maxAttempts: 1 };
    const ids = [
      await store.enqueue({}, options),
      await store.enqueue(poison, options),
      await store.enqueue({}),
    ];
    await store.claim();
    await database.query('delete from longshore.server');
    expect(await storage.maintenance.rescue()).to.include({ failed: 1, released: 1 });
    expect(await Promise.all(ids.map(store.stateOf))).to.deep.equal(['failed', 'processing', 'enqueued']);
    expect((await store.setAside('rescuer')).map(({ jobId }) => jobId)).to.deep.equal([ids[1]]);
    expect(await storage.maintenance.rescue(true)).to.include({ failed: 0, released: 0 });

    await acceptPoison(database);
    await store.tryAgain();
    await storage.maintenance.rescue(true);
    expect(await store.stateOf(ids[1] ?? '')).to.equal('failed');
    expect(await store.setAside('rescuer')).to.deep.equal([]);
  });

  it('does not fire, and every other recurring job does', async () => {
    for (const id of ['a-bad', 'b-good'])
      await client.recurring.addOrUpdate({ id, definition: work, args: {}, cron: '0 3 * * *' });
    await database.query(`update longshore.recurring_job set cron = 'never' where id = 'a-bad'`);
    await database.query(`update longshore.recurring_job set next_due_at = now()`);
    const { fired } = await storage.recurring.fireDue(100);
    expect(fired.map(({ id }) => id)).to.deep.equal(['b-good']);
    expect((await store.setAside('recurring')).map(({ key }) => key)).to.deep.equal(['a-bad']);
    expect((await store.setAside('recurring'))[0]?.error.message).to.contain('"never"');
    expect((await storage.recurring.fireDue(100)).fired).to.deep.equal([]);

    await client.recurring.addOrUpdate({ id: 'a-bad', definition: work, args: {}, cron: '0 3 * * *' });
    await database.query(`update longshore.recurring_job set next_due_at = now() where id = 'a-bad'`);
    expect((await storage.recurring.fireDue(100)).fired.map(({ id }) => id)).to.deep.equal(['a-bad']);
    expect(await store.setAside('recurring')).to.deep.equal([]);
  });

  it('is skipped by bulk operations', async () => {
    const ids = [await store.enqueue(), await store.enqueue(poison), await store.enqueue()];
    await rejectPoison(database, ...history);
    const { id } = await storage.bulk.start({ action: 'cancel', filter: { queue: ['work'] } });
    while (await storage.bulk.advance());
    expect(await storage.bulk.find(id)).to.include({ state: 'done', changed: 2, error: null });
    expect(await Promise.all(ids.map(store.stateOf))).to.deep.equal(['cancelled', 'enqueued', 'cancelled']);
    expect((await store.setAside('bulk')).map(({ jobId }) => jobId)).to.deep.equal([ids[1]]);
  });

  it('is processed by its own operation when retried after a bulk operation skipped it', async () => {
    const [id] = [await store.enqueue(poison), await store.enqueue()];
    await rejectPoison(database, ...history);
    await storage.bulk.start({ action: 'cancel', filter: { queue: ['work'] } });
    while (await storage.bulk.advance());
    const retry = async (): Promise<void> => {
      const [item] = await store.setAside('bulk');
      expect(item).to.include({ jobId: id, retryAt: null });
      expect(await storage.setAside.retry(item?.id ?? '')).to.include({ id: item?.id });
      while (await storage.bulk.advance());
    };
    await retry(); // the job still cannot be cancelled, so it is set aside again
    await acceptPoison(database);
    await retry();
    expect([await store.stateOf(id), await store.setAside('bulk')]).to.deep.equal(['cancelled', []]);
  });

  it('is kept for 30 days after a bulk operation skipped it, beyond the next cleanup', async () => {
    await store.enqueue(poison);
    await rejectPoison(database, ...history);
    await storage.bulk.start({ action: 'cancel', filter: { queue: ['work'] } });
    while (await storage.bulk.advance());
    const age = (days: number): Promise<unknown> =>
      database.query(`
        update longshore.set_aside set failed_at = now() - interval '${days} days', retry_at = now() - interval '${days} days'`);
    const left = async (): Promise<number> => {
      await database.query(deleteOldAside.text);
      return (await store.setAside('bulk')).length;
    };
    await age(29);
    const before = await left();
    await age(31);
    expect([before, await left()]).to.deep.equal([1, 0]);
  });

  it('is skipped by bulk operations on selected jobs', async () => {
    const ids = [await store.enqueue(), await store.enqueue(poison), await store.enqueue()];
    await rejectPoison(database, ...history);
    const { id } = await storage.bulk.start({ action: 'cancel', filter: { id: ids } });
    while (await storage.bulk.advance());
    expect(await storage.bulk.find(id)).to.include({ state: 'done', changed: 2, skipped: 1 });
  });

  it('does not keep the cleaner from its other tasks', async () => {
    await rejectPoison(database, ...history);
    const [bad, good] = [await store.enqueue(poison), await store.enqueue()];
    const claims = await store.claim();
    for (const id of [bad, good]) await storage.control.cancel(id);
    await storage.claims.release(claims);
    await database.query(`
      create function longshore.refuse_fold() returns trigger language plpgsql as $$ begin raise 'no folding'; end $$;
      create trigger refuse_fold before delete on longshore.job_count execute function longshore.refuse_fold()`);
    await database.query(
      `insert into longshore.job_count (queue_id, state, jobs) select 1, 'done', 0 from generate_series(1, 300)`,
    );
    await storage.maintenance.maintain();
    expect([await store.stateOf(bad), await store.stateOf(good)]).to.deep.equal(['enqueued', 'cancelled']);
    const keys = (await store.setAside('cleaner')).map(({ key }) => key);
    expect(keys).to.have.members(['fold counters', `cancel ${bad}`]);
  });

  it('does not keep the cleaner from its other tasks if it takes too long', async () => {
    const locking = new pg.Client(database.url);
    await locking.connect();
    try {
      await locking.query('begin; lock table longshore.timing');
      storage.timings.ended('work', 'work', 'done', 1);
      const id = await store.enqueue();
      const claims = await store.claim();
      await storage.control.cancel(id);
      await storage.claims.release(claims);
      let ended = false;
      const maintained = storage.maintenance.maintain().finally(() => (ended = true));
      // Cancels the waiting statement as Postgres does after `commandBatchMaxTimeoutMs`, with the same SQLSTATE.
      await eventually(async () => {
        await database.query(
          `select pg_cancel_backend(pid) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        );
        return ended;
      });
      await maintained;
      expect(await store.stateOf(id)).to.equal('cancelled');
      expect((await store.setAside('cleaner')).map(({ key }) => key)).to.include('store timings');
    } finally {
      await locking.end();
    }
  });

  it('fails if its outcome cannot be stored', async () => {
    const ids = [await store.enqueue(), await store.enqueue(), await store.enqueue()];
    const claims = await store.claim();
    const stale = await storage.completions.complete(
      claims.map((held) => ({
        claim: held,
        outcome: held.jobId === ids[1] ? { kind: 'done', result: '"\\u0000"' } : done,
      })),
    );
    expect(stale).to.deep.equal([]);
    expect(await Promise.all(ids.map(store.stateOf))).to.deep.equal(['done', 'failed', 'done']);
    const error = (await storage.jobs.find(ids[1] ?? ''))?.error;
    expect(error?.name).to.equal('OutcomeNotStoredError');
    expect(error?.message).to.match(/^Its outcome \(done\) could not be stored: /);
  });

  it('is released if not even its failure can be stored', async () => {
    const ids = [await store.enqueue(), await store.enqueue(poison)];
    const claims = await store.claim();
    await rejectPoison(database, ...history);
    const stale = await storage.completions.complete(claims.map((held) => ({ claim: held, outcome: done })));
    expect(stale.map(({ jobId }) => jobId)).to.deep.equal([ids[1]]);
    expect(await Promise.all(ids.map(store.stateOf))).to.deep.equal(['done', 'processing']);
    expect((await store.setAside('completer')).map(({ jobId }) => jobId)).to.deep.equal([ids[1]]);
  });

  it('is delayed by at most ten years', async () => {
    const ids = [await store.enqueue(), await store.enqueue(), await store.enqueue()];
    const claims = await store.claim();
    const error = { name: 'Error', message: 'again', stack: null };
    const outcomes: Outcome[] = [
      { kind: 'snooze', delayMs: 1e300 },
      { kind: 'retry', error, delayMs: Infinity },
      { kind: 'retry', error, delayMs: Number.NaN },
    ];
    const from = await storage.readClock();
    await storage.completions.complete(
      claims.map((held, place) => ({ claim: held, outcome: outcomes[place] ?? done })),
    );
    const until = await storage.readClock();
    for (const id of ids) {
      const job = await storage.jobs.find(id);
      expect(job?.state).to.equal('scheduled');
      expect(tenYearsBefore(job?.runAt)).to.be.within(from, until);
    }
  });

  it('is reported once, however often it fails', async () => {
    const told: string[] = [];
    storage.setAside.listen(({ role, jobId, error }) => told.push(`${role} ${jobId} ${error.message}`));
    await rejectPoison(database, 'job');
    const id = await store.enqueue(poison, { delayMs: 1 });
    await database.query(`update longshore.job_scheduled set run_at = now() where queue_id > 0`);
    for (let round = 0; round < 3; round++) {
      await storage.maintenance.promoteDue(100);
      await store.tryAgain();
    }
    expect(told).to.deep.equal([`scheduler ${id} poisoned`]);
    expect((await store.setAside('scheduler'))[0]?.failures).to.equal(3);
  });

  it('stops its role if there are too many such items', async () => {
    await rejectPoison(database, 'job');
    await database.query(`
      insert into longshore.set_aside (role, key, error)
      select 'scheduler', longshore.new_id()::text, '{"name": "Error", "message": "", "stack": null}' from generate_series(1, 1000)`);
    await store.enqueue(poison, { delayMs: 1 });
    await database.query(`update longshore.job_scheduled set run_at = now() where queue_id > 0`);
    const error: unknown = await storage.maintenance.promoteDue(100).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(Error).with.property('message', 'poisoned');
  });
});
