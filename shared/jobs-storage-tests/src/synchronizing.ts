import { eventually } from '@longshore/test-support';
import { expect } from 'chai';
import { it } from 'mocha';
import { defineJob, defineRecurringJob, handleJob, JobServer, RecurringJobOwnedError } from '@longshore/jobs';
import { minuteMs, RecurringFixture } from './recurring-fixture.js';
import { steadyServer } from './serving-queue.js';
import type { Fixture } from './storage-under-test.js';

export function synchronizing(fixture: Fixture): void {
  const recurring = new RecurringFixture(fixture);

  it('makes an application’s recurring jobs match its code', async () => {
    const [first, second, third] = [recurring.describe(), recurring.describe(), recurring.describe()];
    const { storage } = fixture;
    await storage.recurring.synchronize('shop', [first, second]);
    const report = await storage.recurring.synchronize('shop', [{ ...first, priority: 9 }, third]);
    expect(report).to.deep.equal({
      added: [third.id],
      updated: [first.id],
      removed: [second.id],
      refused: [],
    });
    expect(await recurring.find(first.id)).to.include({ priority: 9, application: 'shop' });
    expect(await storage.recurring.find(second.id)).to.equal(null);
    await storage.recurring.synchronize('shop', []);
  });

  it('keeps due time, pause and date of change of unchanged ones', async () => {
    const job = recurring.describe({ cron: '* * * * *', args: { b: 1, a: 2 } });
    const paused = recurring.describe();
    await fixture.storage.recurring.synchronize('fleet', [job, paused]);
    const { createdAt } = await recurring.find(job.id);
    await fixture.setNextDue(
      job.id,
      new Date(Math.floor(createdAt.getTime() / minuteMs) * minuteMs - 5 * minuteMs),
    );
    await fixture.storage.recurring.pause(paused.id);
    const before = [await recurring.find(job.id), await recurring.find(paused.id)];
    const { added, updated } = await fixture.storage.recurring.synchronize('fleet', [job, paused]);
    expect([added, updated]).to.deep.equal([[], []]);
    expect([await recurring.find(job.id), await recurring.find(paused.id)]).to.deep.equal(before);
    await fixture.storage.recurring.synchronize('fleet', []);
  });

  it('does not change those of operators and other applications', async () => {
    const operators = await recurring.add();
    const others = recurring.describe();
    await fixture.storage.recurring.synchronize('other', [others]);
    const mine = { ...recurring.describe(), id: operators.id };
    const report = await fixture.storage.recurring.synchronize('mine', [mine, { ...others, priority: 1 }]);
    expect(report.refused.toSorted()).to.deep.equal([operators.id, others.id].toSorted());
    await fixture.storage.recurring.synchronize('mine', []);
    expect(await recurring.find(operators.id)).to.deep.equal(operators);
    expect((await recurring.find(others.id)).priority).to.equal(0);
    await fixture.storage.recurring.synchronize('other', []);
  });

  it('rejects an operator’s change to those defined in code', async () => {
    const job = recurring.describe();
    await fixture.storage.recurring.synchronize('harbour', [job]);
    const error: unknown = await fixture.storage.recurring
      .addOrUpdate({ ...job, priority: 1 })
      .catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(RecurringJobOwnedError);
    expect((await recurring.find(job.id)).priority).to.equal(0);
    await fixture.storage.recurring.synchronize('harbour', []);
  });

  it('has the same effect from many servers at once', async () => {
    const jobs = Array.from({ length: 5 }, () => recurring.describe());
    const reports = await Promise.all(
      Array.from({ length: 6 }, async () => fixture.storage.recurring.synchronize('fleet', jobs)),
    );
    expect(reports.flatMap(({ removed, refused }) => [...removed, ...refused])).to.deep.equal([]);
    for (const { id } of jobs) expect((await recurring.find(id)).application).to.equal('fleet');
    await fixture.storage.recurring.synchronize('fleet', []);
  });

  it('happens when a server starts, and its jobs name the recurring job', async () => {
    const queue = fixture.newQueue();
    const definition = defineJob({ name: 'beat', queue });
    const beat = defineRecurringJob({ id: 'beat', definition, args: {}, cron: '* * * * * *' });
    const server = new JobServer({
      storage: fixture.storage,
      handlers: [handleJob(definition, () => 'beaten')],
      queues: [queue],
      application: 'heart',
      recurring: [beat],
      ...steadyServer,
    });
    await server.start();
    const jobs = await eventually(
      () => fixture.jobsOf(queue),
      (listed) => listed.some(({ state }) => state === 'done'),
    );
    await server.stop();
    expect(jobs.find(({ state }) => state === 'done')).to.include({
      result: 'beaten',
      recurringJobId: 'beat',
    });
    await fixture.storage.recurring.synchronize('heart', []);
  });
}
