import { expect } from 'chai';
import { it } from 'mocha';
import { JobClient } from '@longshore/jobs';
import type { RecurringQuery } from '@longshore/jobs/storage';
import { hourly, minuteMs, RecurringFixture } from './recurring-fixture.js';
import type { Fixture } from './storage-under-test.js';

export function keepingRecurring(fixture: Fixture): void {
  const recurring = new RecurringFixture(fixture);

  it('stores its options and the next due time', async () => {
    const job = recurring.describe({
      timeZone: 'Europe/Berlin',
      priority: 3,
      misfire: 'all',
      overlap: 'wait',
      tags: ['night'],
      concurrency: { key: 'quay', limit: 2 },
    });
    const added = await fixture.storage.recurring.addOrUpdate(job);
    expect(added).to.deep.include({ ...job, args: {}, application: null, pausedAt: null, lastJobId: null });
    expect(added.nextDueAt?.getTime()).to.be.within(
      added.createdAt.getTime(),
      added.createdAt.getTime() + 60 * minuteMs,
    );
    expect(await recurring.find(job.id)).to.deep.equal(added);
  });

  it('adds only recurring jobs that do not exist', async () => {
    const job = recurring.describe({ priority: 3 });
    expect(await fixture.storage.recurring.add(job)).to.include({ priority: 3, application: null });
    expect(await fixture.storage.recurring.add({ ...job, priority: 4 })).to.equal(null);
    expect((await recurring.find(job.id)).priority).to.equal(3);
  });

  it('updates a recurring job based on its current version', async () => {
    const { id, queue } = await recurring.add({ priority: 3 });
    const updated = await fixture.storage.recurring.update(id, ({ priority }) =>
      recurring.describe({ id, queue, priority: priority + 1 }),
    );
    expect(updated).to.include({ id, priority: 4 });
    expect(await recurring.find(id)).to.deep.equal(updated);
  });

  it('changes nothing if the change throws', async () => {
    const before = await recurring.add();
    const change = fixture.storage.recurring.update(before.id, () => {
      throw new Error('not so');
    });
    expect(await change.catch(String)).to.equal('Error: not so');
    expect(await recurring.find(before.id)).to.deep.equal(before);
  });

  it('updates several recurring jobs, all or none', async () => {
    const [one, other] = [await recurring.add(), await recurring.add()];
    const job = recurring.describe();
    await fixture.storage.recurring.synchronize(`app-${job.id}`, [job]);
    const raise = (ids: string[]): Promise<{ id: string; priority: number }[]> =>
      fixture.storage.recurring.updateAll([...ids, 'nobody-knows-me'], async (current) =>
        ids.flatMap((id) => {
          const known = current.get(id);
          return known === undefined ? [] : [recurring.describe({ id, queue: known.queue, priority: 7 })];
        }),
      );
    expect(await raise([one.id, job.id]).catch(String)).to.contain('RecurringJobOwnedError');
    expect((await recurring.find(one.id)).priority).to.equal(0);
    const updated = await raise([other.id, one.id]);
    expect(updated.map(({ id, priority }) => [id, priority])).to.deep.equal([
      [other.id, 7],
      [one.id, 7],
    ]);
  });

  it('keeps the digits of unchanged arguments', async () => {
    const { id } = await recurring.add();
    const args = '{"n":12345678901234567890,"m":1}';
    await fixture.storage.recurring.addOrUpdate({ ...recurring.describe({ id }), args });
    const change = (changed: string): Promise<unknown> =>
      fixture.storage.recurring.update(id, () => ({
        ...recurring.describe({ id, priority: 7 }),
        args: changed,
      }));
    const stored = async (): Promise<string> =>
      ((await fixture.storage.recurring.findArgs(id)) ?? '').replaceAll(' ', '');
    await change(JSON.stringify((await recurring.find(id)).args));
    expect(await stored())
      .to.contain('"n":12345678901234567890')
      .and.to.contain('"m":1');
    await change('{"n":12345678901234567000,"m":2}');
    expect(await stored())
      .to.contain('"n":12345678901234567890')
      .and.to.contain('"m":2');
  });

  it('removes several recurring jobs', async () => {
    const ids = [(await recurring.add()).id, (await recurring.add()).id];
    expect(await fixture.storage.recurring.removeAll([...ids, 'nobody-knows-me'])).to.equal(2);
    expect(await fixture.storage.recurring.find(ids[0] ?? '')).to.equal(null);
  });

  it('does not update an application’s recurring job', async () => {
    const job = recurring.describe();
    await fixture.storage.recurring.synchronize(`app-${job.id}`, [job]);
    const change = fixture.storage.recurring.update(job.id, () => ({ ...job, priority: 9 }));
    expect(await change.catch(String)).to.contain('RecurringJobOwnedError');
    expect((await recurring.find(job.id)).priority).to.equal(0);
  });

  it('does not update a recurring job that does not exist', async () => {
    expect(await fixture.storage.recurring.update('nobody-knows-me', () => recurring.describe())).to.equal(
      null,
    );
  });

  it('lists recurring jobs by id', async () => {
    const ids = [(await recurring.add()).id, (await recurring.add()).id];
    const listed = (await fixture.storage.recurring.list()).map(({ id }) => id);
    expect(listed).to.include.members(ids);
    expect(listed).to.deep.equal(listed.toSorted());
  });

  it('lists pages of recurring jobs in both orders, selects and counts them by queue, name and application', async () => {
    const queue = fixture.newQueue();
    const prefix = fixture.newQueue();
    const ids = ['a', 'B', 'c', 'b'].map((end) => `${prefix}-${end}`);
    for (const id of ids) await recurring.add({ id, queue });
    const { recurring: stored } = fixture.storage;
    const list = async (query: RecurringQuery): Promise<string[]> =>
      (await stored.list({ queues: [queue], ...query })).map(({ id }) => id.slice(prefix.length + 1));
    expect(await list({})).to.deep.equal(['a', 'b', 'B', 'c']);
    expect(await list({ limit: 2, offset: 1 })).to.deep.equal(['b', 'B']);
    expect(await list({ limit: 2, after: `${prefix}-b` })).to.deep.equal(['B', 'c']);
    expect(await list({ limit: 2, after: `${prefix}-B`, order: 'descending' })).to.deep.equal(['b', 'a']);
    const [name = ''] = (await stored.list({ queues: [queue] })).map((job) => job.name);
    expect(await list({ names: [name] })).to.have.length(4);
    expect(await list({ names: ['other'] })).to.deep.equal([]);
    expect(await list({ applications: ['other'] })).to.deep.equal([]);
    expect(await stored.count({ queues: [queue, 'other'] })).to.equal(4);
    expect(await stored.count({ queues: [queue], applications: ['other'] })).to.equal(0);
  });

  it('keeps the next due time when anything but the schedule changes', async () => {
    const { id, queue, nextDueAt } = await recurring.addDue(5 * minuteMs);
    const changed = await recurring.add({ id, queue, cron: '* * * * *', priority: 7 });
    expect(changed).to.deep.include({ priority: 7, nextDueAt });
  });

  it('computes the next due time of a changed schedule', async () => {
    const { id, queue } = await recurring.addDue(5 * minuteMs);
    const changed = await recurring.add({ id, queue, cron: '30 * * * *' });
    expect(changed.nextDueAt?.getUTCMinutes()).to.equal(30);
  });

  it('stores an interval, a time limit and a unique key', async () => {
    const job = recurring.describe({
      every: '1 h 30 min',
      anchor: new Date('2026-01-01T06:00:00Z'),
      timeoutMs: 5_000,
      unique: { key: 'all', periodMs: 60_000, states: ['enqueued'], onConflict: 'replace' },
    });
    const added = await fixture.storage.recurring.addOrUpdate(job);
    expect(added).to.deep.include({ ...job, args: {}, cron: null, timeZone: 'UTC' });
    expect(await recurring.find(job.id)).to.deep.equal(added);
  });

  it('computes the next due time of a changed interval or anchor, and keeps that of an unchanged one', async () => {
    const { id, queue, nextDueAt } = await recurring.addDue(5 * minuteMs, { every: '1 min' });
    const anchor = new Date('2026-01-01T00:00:01Z');
    const change = async (options: object): Promise<Date | null> =>
      (await recurring.add({ id, queue, every: '1 min', ...options })).nextDueAt;
    expect(await change({ priority: 7 })).to.deep.equal(nextDueAt);
    expect((await change({ anchor }))?.getUTCSeconds()).to.equal(1);
    expect((await change({ anchor, every: '1 h' }))?.toISOString()).to.match(/:00:01\.000Z$/);
    expect((await recurring.add({ id, queue, cron: '30 * * * *' })).nextDueAt?.getUTCMinutes()).to.equal(30);
  });

  it('keeps the pause of an updated recurring job', async () => {
    const { id, queue } = await recurring.add();
    await fixture.storage.recurring.pause(id);
    const changed = await recurring.add({ id, queue, cron: '30 * * * *' });
    expect(changed.pausedAt).to.be.a('date');
    expect(changed.nextDueAt).to.equal(null);
  });

  it('deletes a removed recurring job', async () => {
    const { id } = await recurring.add();
    expect(await fixture.storage.recurring.remove(id)).to.equal(true);
    expect(await fixture.storage.recurring.remove(id)).to.equal(false);
    expect(await fixture.storage.recurring.find(id)).to.equal(null);
  });

  for (const verb of ['find', 'findArgs', 'trigger', 'pause', 'resume'] as const) {
    it(`${verb} on an unknown recurring job returns null`, async () => {
      expect(await fixture.storage.recurring[verb]('nobody-knows-me')).to.equal(null);
    });
  }

  it('keeps the due time of one that is resumed without being paused', async () => {
    const { id, nextDueAt } = await recurring.addDue(10 * minuteMs);
    expect((await fixture.storage.recurring.resume(id))?.nextDueAt).to.deep.equal(nextDueAt);
  });

  it('is triggered without changing its schedule, even while paused', async () => {
    const { id, queue } = await recurring.add();
    await fixture.storage.recurring.pause(id);
    const before = await recurring.find(id);
    const enqueued = await fixture.storage.recurring.trigger(id);
    expect((await fixture.jobsOf(queue)).map((job) => [job.id, job.recurringJobId])).to.deep.equal([
      [enqueued?.id, id],
    ]);
    expect(await recurring.find(id)).to.deep.equal(before);
  });

  it('passes all digits of large numbers to its jobs, and returns them', async () => {
    const { storage } = fixture;
    const { id, queue } = await recurring.addDue(minuteMs);
    const digits = '9007199254740993';
    await storage.recurring.addOrUpdate({
      ...recurring.describe({ id, queue, cron: '* * * * *' }),
      args: `{"order":${digits}}`,
    });
    const triggered = await storage.recurring.trigger(id);
    const { jobIds } = await recurring.fire(id);
    const given = [triggered?.id ?? '', ...jobIds].map(async (jobId) => storage.jobs.findDocuments(jobId));
    const texts = (await Promise.all(given)).map((documents) => documents?.args);
    expect(texts.length).to.be.above(1);
    for (const text of [...texts, await storage.recurring.findArgs(id)]) expect(text).to.include(digits);
  });

  it('is managed by the client', async () => {
    const client = new JobClient(fixture.storage);
    const queue = fixture.newQueue();
    const { id } = await client.recurring.addOrUpdate({ ...hourly, id: `client-${queue}`, queue });
    await client.recurring.trigger(id);
    expect(await fixture.jobsOf(queue)).to.have.length(1);
    expect(await client.recurring.remove(id)).to.equal(true);
  });
}
