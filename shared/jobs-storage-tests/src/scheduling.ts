import { eventually } from '@longshore/test-support';
import { expect } from 'chai';
import { it } from 'mocha';
import { defineJob, JobClient } from '@longshore/jobs';
import { type Fixture, hourMs, yearMs } from './storage-under-test.js';

export function scheduling(fixture: Fixture): void {
  it('keeps a job for a later time scheduled, and no server can claim it', async () => {
    const queue = fixture.newQueue();
    const at = new Date((await fixture.storage.readClock()).getTime() + yearMs);
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
    await fixture.untilPromoted(id);
    const server = await fixture.register(queue);
    const [claimed] = await fixture.claimSome(server.id, queue);
    expect(claimed.claim).to.include({ jobId: id, attempt: 1 });
  });

  const past = new Date('2020-01-01T00:00:00Z');
  const later = { inMs: yearMs };
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
        await client.enqueue(job, {}, { unique, delayMs: yearMs });
        return (await client.enqueue(job, {}, { unique, runAt: past })).id;
      },
    ],
  ];
  for (const [title, schedule] of waysToSchedule) {
    it(`treats a past time as now when ${title}`, async () => {
      const from = await fixture.storage.readClock();
      const id = await schedule(fixture.newQueue());
      const until = await fixture.storage.readClock();
      expect((await fixture.storage.jobs.find(id))?.runAt).to.be.within(from, until);
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
    await fixture.enqueue(fixture.newQueue(), { due: { inMs: hourMs } });
    const { from, report, until } = await eventually(
      async () => ({
        from: (await fixture.storage.readClock()).getTime(),
        report: await fixture.storage.maintenance.promoteDue(1_000),
        until: (await fixture.storage.readClock()).getTime(),
      }),
      ({ report: { promoted } }) => promoted === 0,
    );
    const waiting = await fixture.storage.jobs.list({ filter: { state: ['scheduled'] }, limit: 1_000 });
    const nextAt = Math.min(...waiting.map(({ runAt }) => runAt?.getTime() ?? Infinity));
    expect(report.nextDueMs).to.be.within(nextAt - until - 1, nextAt - from + 1);
  });

  it('makes each due job ready once, however many servers do it', async () => {
    const queue = fixture.newQueue();
    const due = { at: past };
    await Promise.all(Array.from({ length: 20 }, async () => fixture.enqueue(queue, { due })));
    await eventually(
      async () => {
        await Promise.all(Array.from({ length: 4 }, async () => fixture.storage.maintenance.promoteDue(7)));
        return (await fixture.storage.jobs.count({ queue: [queue], state: ['scheduled'] })).count;
      },
      (left) => left === 0,
    );
    expect((await fixture.storage.jobs.count({ queue: [queue], state: ['enqueued'] })).count).to.equal(20);
  });
}
