import { expect } from 'chai';
import { it } from 'mocha';
import type { NewJob } from '@longshore/jobs/storage';
import { BulkFixture } from './bulk-fixture.js';
import { childOf, resolveAll } from './dependent-job.js';
import { type Fixture, yearMs } from './storage-under-test.js';

/** Moving jobs to another job type. */
export function renaming(fixture: Fixture): void {
  const bulk = new BulkFixture(fixture);
  const meta = { concurrencyKey: 'renamed', concurrencyLimit: 1 };

  const places: readonly [place: string, make: (queue: string) => Promise<NewJob>][] = [
    ['ready', (queue) => fixture.enqueue(queue, { name: 'old' })],
    ['scheduled', (queue) => fixture.enqueue(queue, { name: 'old', due: { inMs: yearMs } })],
    [
      'awaiting',
      async (queue) => {
        const { id } = await fixture.enqueue(fixture.newQueue());
        return fixture.enqueue(queue, { name: 'old', ...childOf([id]) });
      },
    ],
    [
      'blocked',
      async (queue) => {
        await fixture.enqueue(queue, { meta });
        const job = await fixture.enqueue(queue, { name: 'old', meta });
        await resolveAll(fixture.storage);
        return job;
      },
    ],
  ];

  for (const [place, make] of places) {
    it(`changes nothing but the name of a ${place} job`, async () => {
      const { id } = await make(fixture.newQueue());
      const before = await fixture.storage.jobs.find(id);
      const result = await fixture.storage.control.rename(id, 'new');
      const after = await fixture.storage.jobs.find(id);
      expect(after).to.deep.equal({ ...before, name: 'new' });
      expect(result).to.deep.equal({ outcome: 'ok', job: after, changed: true, restored: 0 });
      const again = await fixture.storage.control.rename(id, 'new');
      expect(again).to.deep.equal({ outcome: 'ok', job: after, changed: false, restored: 0 });
    });

    it(`renames a ${place} job in bulk`, async () => {
      const queue = fixture.newQueue();
      const { id } = await make(queue);
      const request = { action: 'rename', toName: 'new', filter: { queue: [queue], name: ['old'] } } as const;
      const operation = await bulk.carryOut(request);
      expect(operation).to.include({ changed: 1, skipped: 0, toName: 'new' });
      expect((await fixture.storage.jobs.find(id))?.name).to.equal('new');
    });
  }

  for (const [how, rename] of [
    ['one by one', (id: string) => fixture.storage.control.rename(id, 'new')],
    ['in bulk', (id: string) => bulk.carryOut({ action: 'rename', toName: 'new', filter: { id: [id] } })],
  ] as const) {
    it(`lets a server that has passed over a job claim it after it was renamed ${how}`, async () => {
      const queue = fixture.newQueue();
      const { id: serverId } = await fixture.register(queue, ['new']);
      const { id } = await fixture.enqueue(queue, { name: 'old' });
      await fixture.enqueue(queue, { name: 'new' });
      await fixture.claimSome(serverId, queue);
      expect(await fixture.claim(serverId, queue)).to.deep.equal([]);
      await rename(id);
      const [claimed] = await fixture.claimSome(serverId, queue);
      expect([claimed.claim.jobId, claimed.name]).to.deep.equal([id, 'new']);
    });
  }

  it('is not possible for jobs that are running or have ended', async () => {
    const { claim } = await fixture.claimOne();
    const { control, completions } = fixture.storage;
    expect(await control.rename(claim.jobId, 'new')).to.include({ outcome: 'illegal' });
    await completions.complete([{ claim, outcome: { kind: 'done', result: 'null' } }]);
    expect(await control.rename(claim.jobId, 'new')).to.include({ outcome: 'illegal' });
  });

  it('requires a valid name, and only with this action', async () => {
    const { id } = await fixture.enqueue(fixture.newQueue());
    const { control, bulk: operations } = fixture.storage;
    const filter = { id: [id] };
    const misuses = [
      () => control.rename(id, 'two words'),
      () => operations.start({ action: 'rename', filter, toName: 'two words' }),
      () => operations.start({ action: 'rename', filter }),
      () => operations.start({ action: 'cancel', filter, toName: 'new' }),
    ];
    for (const misuse of misuses)
      expect(await misuse().catch((error: unknown) => error)).to.be.instanceOf(RangeError);
  });
}
