import { expect } from 'chai';
import { it } from 'mocha';
import { defineJob, JobClient } from '@longshore/jobs';
import { type Bench, until } from './storage-under-test.js';

/** Tolerance for the difference between the clocks of the storage and its database, in milliseconds. */
const clockError = 5_000;

export function scheduling(bench: Bench): void {
  it('keeps a job for a later time scheduled, and no server can claim it', async () => {
    const queue = bench.newQueue();
    const at = new Date(Date.now() + 3_600_000);
    const { id } = await bench.enqueue(queue, { due: { at } });
    await bench.storage.maintenance.promoteDue(100);
    expect((await bench.storage.jobs.find(id))?.runAt?.getTime()).to.equal(at.getTime());
    expect((await bench.storage.jobs.find(id))?.state).to.equal('scheduled');
    const server = await bench.register(queue);
    expect(await bench.claim(server.id, queue)).to.deep.equal([]);
  });

  it('makes a job ready at its time', async () => {
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

  const past = new Date('2020-01-01T00:00:00Z');
  const later = { inMs: 60_000 };
  const waysToSchedule: readonly [title: string, schedule: (queue: string) => Promise<string>][] = [
    ['enqueuing', async (queue) => (await bench.enqueue(queue, { due: { at: past } })).id],
    [
      'rescheduling',
      async (queue) => {
        const { id } = await bench.enqueue(queue, { due: later });
        await bench.storage.control.reschedule(id, past);
        return id;
      },
    ],
    ['editing a scheduled job', async (queue) => edit((await bench.enqueue(queue, { due: later })).id)],
    ['editing a ready job', async (queue) => edit((await bench.enqueue(queue)).id)],
    [
      'replacing',
      async (queue) => {
        const client = new JobClient(bench.storage);
        const job = defineJob({ name: 'replaced', queue });
        const unique = { key: 'a', onConflict: 'replace' } as const;
        await client.enqueue(job, {}, { unique, delayMs: 60_000 });
        return (await client.enqueue(job, {}, { unique, runAt: past })).id;
      },
    ],
  ];
  for (const [title, schedule] of waysToSchedule) {
    it(`treats a past time as now when ${title}`, async () => {
      const { clock } = bench.storage;
      const before = clock.now();
      const runAt = (await bench.storage.jobs.find(await schedule(bench.newQueue())))?.runAt?.getTime();
      expect(runAt).to.be.within(before - clockError, clock.now() + clockError);
    });
  }

  async function edit(id: string): Promise<string> {
    await bench.storage.control.edit([id], (current) => {
      const contents = [...current].map(([found, { queue, priority, args }]) => {
        const content = { queue, priority, args: JSON.stringify(args), runAt: past };
        return [found, content] as const;
      });
      return new Map(contents);
    });
    return id;
  }

  it('returns the time until the next job is due', async () => {
    await bench.enqueue(bench.newQueue(), { due: { inMs: 5_000 } });
    const { nextDueMs } = await until(async () => {
      const report = await bench.storage.maintenance.promoteDue(100);
      return report.promoted === 0 ? report : undefined;
    });
    expect(nextDueMs).to.be.within(0, 5_000);
  });

  it('makes each due job ready once, however many servers do it', async () => {
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
