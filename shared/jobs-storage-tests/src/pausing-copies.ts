import { defineJob, handleJob, JobClient } from '@longshore/jobs';
import { eventually } from '@longshore/test-support';
import { expect } from 'chai';
import { it } from 'mocha';
import { warningOf } from './incidents.js';
import { hourly, RecurringFixture } from './recurring-fixture.js';
import { whileServing } from './serving-queue.js';
import { type Fixture, hourMs } from './storage-under-test.js';

/** Defines the tests of pausing an installation as a whole. They need a storage of their own, which was never resumed. */
export function pausingCopies(fixture: Fixture): void {
  const recurring = new RecurringFixture(fixture);

  it('starts no job and fires no recurring job until it is resumed, and drops messages', async () => {
    const { storage } = fixture;
    const { installation, alerts, incidents, audit } = storage;
    await alerts.register(['hooks.example']);
    await incidents.observe([warningOf('restored')]);
    expect((await installation.read()).pausedAt).to.equal(null);

    const paused = await installation.pauseCopy();
    expect(paused.pausedAt).to.be.instanceOf(Date);
    expect(await installation.pauseCopy()).to.deep.equal(paused);
    expect(await alerts.take(['hooks.example'], 10, hourMs)).to.deep.equal([]);
    const [entry] = await audit.list({ limit: 1 });
    expect(entry).to.include({ who: 'Longshore', action: 'installations/pause', target: paused.name });

    const { id: due, queue } = await recurring.addDue(0);
    const job = defineJob({ name: 'held', queue });
    const { id } = await new JobClient(storage).enqueue(job);
    const handlers = [job, hourly.definition].map((definition) => handleJob(definition, () => null));
    await whileServing(fixture, queue, handlers, async (server) => {
      expect(await server.drained()).to.equal(false);
      expect((await storage.jobs.find(id))?.state).to.equal('enqueued');
      expect((await recurring.find(due)).lastJobId).to.equal(null);
      await installation.resume(paused.name);
      await eventually(async () => {
        const { lastJobId } = await recurring.find(due);
        const jobs = await Promise.all([id, lastJobId ?? ''].map((jobId) => storage.jobs.find(jobId)));
        return jobs.every((found) => found?.state === 'done');
      });
    });
  });

  it('is not paused again where it was resumed', async () => {
    const { installation } = fixture.storage;
    const { name } = await installation.pauseCopy();
    await installation.resume(name);
    expect(await installation.pauseCopy()).to.deep.equal({ name, pausedAt: null });
  });

  it('has one name', async () => {
    expect(await fixture.storage.installation.resume('another')).to.equal(null);
  });
}
