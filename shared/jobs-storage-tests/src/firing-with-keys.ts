import { expect } from 'chai';
import { it } from 'mocha';
import { defineJob, DuplicateJobError, JobClient } from '@longshore/jobs';
import { minuteMs, RecurringFixture } from './recurring-fixture.js';
import type { Fixture } from './storage-under-test.js';

export function firingWithKeys(fixture: Fixture): void {
  const recurring = new RecurringFixture(fixture);
  const definition = defineJob({ name: 'sync' });
  const unique = { key: 'all' };

  it('gives its jobs their unique key and their time limit', async () => {
    const { id, queue } = await recurring.addDue(0, { definition, unique, timeoutMs: 7_000 });
    await recurring.fire(id);
    const [job] = await fixture.jobsOf(queue);
    expect(job).to.include({ timeoutMs: 7_000 });
    expect(job?.unique).to.deep.include({ key: 'all', periodMs: null, onConflict: 'keep' });
    const client = new JobClient(fixture.storage);
    const again = await client.enqueue(definition, {}, { queue, unique });
    expect([again.created, again.id]).to.deep.equal([false, job?.id]);
  });

  for (const onConflict of ['keep', 'reject'] as const)
    it(`enqueues nothing while another job holds the unique key, with ${onConflict}, and records why`, async () => {
      const { id, queue, nextDueAt } = await recurring.addDue(0, {
        definition,
        unique: { ...unique, onConflict },
      });
      const client = new JobClient(fixture.storage);
      const holder = await client.enqueue(definition, {}, { queue, unique });
      const { jobIds, skipped } = await recurring.fire(id);
      const after = await recurring.find(id);
      expect(jobIds).to.deep.equal([]);
      expect(skipped).to.deep.equal({ from: nextDueAt, until: after.nextDueAt, reason: 'duplicate' });
      expect(after).to.include({ lastDueAt: null, lastJobId: null });
      expect(await fixture.storage.recurring.listMissed([id], 1)).to.deep.equal([
        { recurringJobId: id, ...skipped },
      ]);
      expect((await fixture.jobsOf(queue)).map((job) => job.id)).to.deep.equal([holder.id]);
      await recurring.finish(queue);
      await fixture.setNextDue(id, nextDueAt);
      expect((await recurring.fire(id)).jobIds).to.have.length(1);
    });

  it('gives the holder of the unique key its content with replace', async () => {
    const { id, queue } = await recurring.addDue(0, {
      definition,
      unique: { ...unique, onConflict: 'replace' },
      args: { port: 'Rotterdam' },
      tags: ['night'],
    });
    const client = new JobClient(fixture.storage);
    const holder = await client.enqueue(
      definition,
      { port: 'Hamburg' },
      { queue, unique, delayMs: 60 * minuteMs },
    );
    expect((await recurring.fire(id)).skipped?.reason).to.equal('duplicate');
    const jobs = await fixture.jobsOf(queue);
    expect(jobs.map((job) => [job.id, job.args, job.tags, job.state])).to.deep.equal([
      [holder.id, { port: 'Rotterdam' }, ['night'], 'enqueued'],
    ]);
  });

  it('enqueues one job for several missed due times', async () => {
    const { id, queue } = await recurring.addDue(10 * minuteMs, { definition, unique, misfire: 'all' });
    await recurring.fire(id);
    expect(await fixture.jobsOf(queue)).to.have.length(1);
  });

  it('fires two recurring jobs with the same key once', async () => {
    const one = await recurring.addDue(0, { definition, unique });
    const other = await recurring.addDue(0, { definition, unique, queue: one.queue });
    const { fired } = await fixture.storage.recurring.fireDue(1_000);
    const own = fired.filter(({ id }) => id === one.id || id === other.id);
    expect(own.map(({ skipped }) => skipped?.reason)).to.have.members(['duplicate', undefined]);
    expect(await fixture.jobsOf(one.queue)).to.have.length(1);
  });

  it('is triggered without a new job while another one holds the unique key', async () => {
    const { id, queue } = await recurring.add({ definition, unique });
    const client = new JobClient(fixture.storage);
    const first = await client.recurring.trigger(id);
    expect(await client.recurring.trigger(id)).to.deep.equal({ ...first, created: false });
    await recurring.add({ id, queue, definition, unique: { ...unique, onConflict: 'reject' } });
    const refused = await client.recurring.trigger(id).catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(DuplicateJobError);
    expect(await fixture.jobsOf(queue)).to.have.length(1);
  });
}
