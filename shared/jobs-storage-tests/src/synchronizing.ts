import { expect } from 'chai';
import { it } from 'mocha';
import { defineJob, defineRecurringJob, handleJob, JobServer, RecurringJobOwnedError } from '@longshore/jobs';
import { minuteMs, RecurringBench } from './recurring-bench.js';
import { type Bench, until } from './storage-under-test.js';

export function synchronizing(bench: Bench): void {
  const recurring = new RecurringBench(bench);

  it('makes an application’s recurring jobs match its code', async () => {
    const [first, second, third] = [recurring.describe(), recurring.describe(), recurring.describe()];
    const { storage } = bench;
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
    await bench.storage.recurring.synchronize('fleet', [job, paused]);
    const { createdAt } = await recurring.find(job.id);
    await bench.setNextDue(
      job.id,
      new Date(Math.floor(createdAt.getTime() / minuteMs) * minuteMs - 5 * minuteMs),
    );
    await bench.storage.recurring.pause(paused.id);
    const before = [await recurring.find(job.id), await recurring.find(paused.id)];
    const { added, updated } = await bench.storage.recurring.synchronize('fleet', [job, paused]);
    expect([added, updated]).to.deep.equal([[], []]);
    expect([await recurring.find(job.id), await recurring.find(paused.id)]).to.deep.equal(before);
    await bench.storage.recurring.synchronize('fleet', []);
  });

  it('does not change those of operators and other applications', async () => {
    const operators = await recurring.add();
    const others = recurring.describe();
    await bench.storage.recurring.synchronize('other', [others]);
    const mine = { ...recurring.describe(), id: operators.id };
    const report = await bench.storage.recurring.synchronize('mine', [mine, { ...others, priority: 1 }]);
    expect(report.refused.toSorted()).to.deep.equal([operators.id, others.id].toSorted());
    await bench.storage.recurring.synchronize('mine', []);
    expect(await recurring.find(operators.id)).to.deep.equal(operators);
    expect((await recurring.find(others.id)).priority).to.equal(0);
    await bench.storage.recurring.synchronize('other', []);
  });

  it('rejects an operator’s change to those defined in code', async () => {
    const job = recurring.describe();
    await bench.storage.recurring.synchronize('harbour', [job]);
    const error: unknown = await bench.storage.recurring
      .addOrUpdate({ ...job, priority: 1 })
      .catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(RecurringJobOwnedError);
    expect((await recurring.find(job.id)).priority).to.equal(0);
    await bench.storage.recurring.synchronize('harbour', []);
  });

  it('has the same effect from many servers at once', async () => {
    const jobs = Array.from({ length: 5 }, () => recurring.describe());
    const reports = await Promise.all(
      Array.from({ length: 6 }, async () => bench.storage.recurring.synchronize('fleet', jobs)),
    );
    expect(reports.flatMap(({ removed, refused }) => [...removed, ...refused])).to.deep.equal([]);
    for (const { id } of jobs) expect((await recurring.find(id)).application).to.equal('fleet');
    await bench.storage.recurring.synchronize('fleet', []);
  });

  it('happens when a server starts, and its jobs name the recurring job', async () => {
    const queue = bench.newQueue();
    const definition = defineJob({ name: 'beat', queue });
    const beat = defineRecurringJob({ id: 'beat', definition, args: {}, cron: '* * * * * *' });
    const server = new JobServer({
      storage: bench.storage,
      handlers: [handleJob(definition, () => 'beaten')],
      queues: [queue],
      application: 'heart',
      recurring: [beat],
    });
    await server.start();
    const done = await until(async () => (await bench.jobsOf(queue)).find(({ state }) => state === 'done'));
    await server.stop();
    expect(done).to.include({ result: 'beaten', recurringJobId: 'beat' });
    await bench.storage.recurring.synchronize('heart', []);
  });
}
