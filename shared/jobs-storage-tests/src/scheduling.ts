import { expect } from 'chai';
import { it } from 'mocha';
import { defineJob, JobClient } from '@longshore/jobs';
import { type Fixture, until } from './storage-under-test.js';

/** Maximum error of the storage's estimate of the database's clock, in milliseconds. */
const clockError = 5_000;

export function scheduling(fixture: Fixture): void {
  it('keeps a job for a later time scheduled, and no server can claim it', async () => {
    const queue = fixture.newQueue();
    const at = new Date(Date.now() + 3_600_000);
    const { id } = await fixture.enqueue(queue, { due: { at } });
    await fixture.storage.maintenance.promoteDue(100);
    expect((await fixture.storage.jobs.find(id))?.runAt?.getTime()).to.equal(at.getTime());
    expect((await fixture.storage.jobs.find(id))?.state).to.equal('scheduled');
    const server = await fixture.register(queue);
    expect(await fixture.claim(server.id, queue)).to.deep.equal([]);
  });

  it('makes a job ready at its time', async () => {
    const queue = fixture.newQueue();
    const { id } = await fixture.enqueue(queue, { due: { inMs: 1 } });
    await until(async () => {
      await fixture.storage.maintenance.promoteDue(100);
      return (await fixture.storage.jobs.find(id))?.state === 'enqueued' ? true : undefined;
    });
    const server = await fixture.register(queue);
    const [claimed] = await fixture.claim(server.id, queue);
    expect(claimed?.claim).to.include({ jobId: id, attempt: 1 });
  });

  const past = new Date('2020-01-01T00:00:00Z');
  const later = { inMs: 60_000 };
  const waysToSchedule: readonly [title: string, schedule: (queue: string) => Promise<string>][] = [
    ['enqueuing', async (queue) => (await fixture.enqueue(queue, { due: { at: past } })).id],
    [
      'rescheduling',
      async (queue) => {
        const { id } = await fixture.enqueue(queue, { due: later });
        await fixture.storage.control.reschedule(id, past);
        return id;
      },
    ],
    ['editing a scheduled job', async (queue) => edit((await fixture.enqueue(queue, { due: later })).id)],
    ['editing a ready job', async (queue) => edit((await fixture.enqueue(queue)).id)],
    [
      'replacing',
      async (queue) => {
        const client = new JobClient(fixture.storage);
        const job = defineJob({ name: 'replaced', queue });
        const unique = { key: 'a', onConflict: 'replace' } as const;
        await client.enqueue(job, {}, { unique, delayMs: 60_000 });
        return (await client.enqueue(job, {}, { unique, runAt: past })).id;
      },
    ],
  ];
  for (const [title, schedule] of waysToSchedule) {
    it(`treats a past time as now when ${title}`, async () => {
      const { clock } = fixture.storage;
      const before = clock.now();
      const runAt = (await fixture.storage.jobs.find(await schedule(fixture.newQueue())))?.runAt?.getTime();
      expect(runAt).to.be.within(before - clockError, clock.now() + clockError);
    });
  }

  async function edit(id: string): Promise<string> {
    await fixture.storage.control.edit([id], async (current) => {
      const contents = [...current].map(([found, { queue, priority, args }]) => {
        const content = { queue, priority, args: JSON.stringify(args), runAt: past };
        return [found, content] as const;
      });
      return new Map(contents);
    });
    return id;
  }

  it('returns the time until the next job is due', async () => {
    await fixture.enqueue(fixture.newQueue(), { due: { inMs: 5_000 } });
    const { nextDueMs } = await until(async () => {
      const report = await fixture.storage.maintenance.promoteDue(100);
      return report.promoted === 0 ? report : undefined;
    });
    expect(nextDueMs).to.be.within(0, 5_000);
  });

  it('makes each due job ready once, however many servers do it', async () => {
    const queue = fixture.newQueue();
    const due = { at: new Date(Date.now() - 1_000) };
    await Promise.all(Array.from({ length: 20 }, async () => fixture.enqueue(queue, { due })));
    await until(async () => {
      await Promise.all(Array.from({ length: 4 }, async () => fixture.storage.maintenance.promoteDue(7)));
      return (await fixture.storage.jobs.count({ queue: [queue], state: ['scheduled'] })).count === 0
        ? true
        : undefined;
    });
    expect((await fixture.storage.jobs.count({ queue: [queue], state: ['enqueued'] })).count).to.equal(20);
  });
}
