import { expect } from 'chai';
import { it } from 'mocha';
import { type Bench, until } from './storage-under-test.js';

export function scheduling(bench: Bench): void {
  it('keeps a job for a later time scheduled and gives it to nobody', async () => {
    const queue = bench.newQueue();
    const at = new Date(Date.now() + 3_600_000);
    const { id } = await bench.enqueue(queue, { due: { at } });
    await bench.storage.maintenance.promoteDue(100);
    expect((await bench.storage.jobs.find(id))?.runAt?.getTime()).to.equal(at.getTime());
    expect((await bench.storage.jobs.find(id))?.state).to.equal('scheduled');
    const server = await bench.register(queue);
    expect(await bench.claim(server.id, queue)).to.deep.equal([]);
  });

  it('makes a job ready once its time has come', async () => {
    const queue = bench.newQueue();
    const { id } = await bench.enqueue(queue, { due: { inMs: 1 } });
    await until(async () => {
      await bench.storage.maintenance.promoteDue(100);
      return (await bench.storage.jobs.find(id))?.state === 'enqueued' ? true : undefined;
    });
    const server = await bench.register(queue);
    const [claimed] = await bench.claim(server.id, queue);
    expect(claimed?.claim).to.include({ jobId: id, attempt: 1 });
  });

  it('says how long until the next job is due', async () => {
    await bench.enqueue(bench.newQueue(), { due: { inMs: 5_000 } });
    const { nextDueMs } = await until(async () => {
      const report = await bench.storage.maintenance.promoteDue(100);
      return report.promoted === 0 ? report : undefined;
    });
    expect(nextDueMs).to.be.within(0, 5_000);
  });

  it('makes each due job ready once, however many ask', async () => {
    const queue = bench.newQueue();
    const due = { at: new Date(Date.now() - 1_000) };
    await Promise.all(Array.from({ length: 20 }, async () => bench.enqueue(queue, { due })));
    await until(async () => {
      await Promise.all(Array.from({ length: 4 }, async () => bench.storage.maintenance.promoteDue(7)));
      return (await bench.storage.jobs.count({ queue: [queue], state: ['scheduled'] })).count === 0
        ? true
        : undefined;
    });
    expect((await bench.storage.jobs.count({ queue: [queue], state: ['enqueued'] })).count).to.equal(20);
  });
}
