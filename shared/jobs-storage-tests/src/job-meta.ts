import { eventually } from '@longshore/test-support';
import { expect } from 'chai';
import { it } from 'mocha';
import type { JobError } from '@longshore/jobs';
import type { JobMeta, Outcome } from '@longshore/jobs/storage';
import { type Fixture, yearMs } from './storage-under-test.js';

const error: JobError = { name: 'TypeError', message: 'No such ship', stack: null };
const meta: JobMeta = { tags: ['night', 'mail'], traceparent: 'trace', hasDependents: true };

const outcomes: readonly Outcome[] = [
  { kind: 'done', result: 'null' },
  { kind: 'failed', error },
  { kind: 'cancelled', error },
  { kind: 'retry', error, delayMs: yearMs },
  { kind: 'snooze', delayMs: yearMs },
];

/** Defines the tests of job metadata, which a job keeps in all states. */
export function linking(fixture: Fixture): void {
  const tagsOf = async (id: string): Promise<string[] | undefined> =>
    (await fixture.storage.jobs.find(id))?.tags.toSorted();

  it('is returned with the claim', async () => {
    const queue = fixture.newQueue();
    await fixture.enqueue(queue, { meta });
    const { id } = await fixture.register(queue);
    const [claimed] = await fixture.claim(id, queue);
    expect(claimed?.meta).to.deep.equal(meta);
  });

  it('is absent from the claim of a plain job, even next to a job with metadata', async () => {
    const queue = fixture.newQueue();
    const { id } = await fixture.register(queue);
    const [carrying, plain] = [await fixture.enqueue(queue, { meta }), await fixture.enqueue(queue)];
    const claimed = new Map((await fixture.claim(id, queue)).map((job) => [job.claim.jobId, job.meta]));
    expect(claimed).to.deep.equal(
      new Map([
        [carrying.id, meta],
        [plain.id, null],
      ]),
    );
  });

  for (const outcome of outcomes) {
    for (const hasMeta of [true, false]) {
      it(`is kept when the outcome is ${outcome.kind}, ${hasMeta ? 'with' : 'without'} the hint that there is metadata`, async () => {
        const { claim } = await fixture.claimOne({ meta });
        const plain = await fixture.claimOne();
        const stale = await fixture.storage.completions.complete([
          { claim, outcome, hasMeta },
          { claim: plain.claim, outcome },
        ]);
        expect(stale).to.deep.equal([]);
        expect(await tagsOf(claim.jobId)).to.deep.equal(['mail', 'night']);
      });
    }
  }

  it('is kept when a scheduled job becomes ready', async () => {
    const queue = fixture.newQueue();
    const { id } = await fixture.enqueue(queue, { meta, due: { inMs: 1 } });
    const server = await fixture.register(queue);
    await fixture.untilPromoted(id);
    const [claimed] = await fixture.claimSome(server.id, queue);
    expect(claimed).to.deep.include({ meta });
    expect(claimed.claim.jobId).to.equal(id);
  });

  it('is kept when a job is cancelled and retried', async () => {
    const { id } = await fixture.enqueue(fixture.newQueue(), { meta });
    await fixture.storage.control.cancel(id);
    await fixture.storage.control.retry(id);
    expect(await tagsOf(id)).to.deep.equal(['mail', 'night']);
  });

  it('is kept when a job’s server dies', async () => {
    const { claim } = await fixture.claimOne({ meta });
    await fixture.silence(claim.serverId);
    await fixture.storage.maintenance.rescue();
    expect(await tagsOf(claim.jobId)).to.deep.equal(['mail', 'night']);
  });

  it('leaves no outbox entries once all dependencies are resolved', async () => {
    const { claim } = await fixture.claimOne({ meta });
    await fixture.storage.completions.complete([
      { claim, outcome: { kind: 'done', result: 'null' }, hasMeta: true },
    ]);
    await eventually(
      () => fixture.storage.maintenance.resolveDependencies(100),
      (resolved) => resolved === 0,
    );
    expect((await fixture.storage.jobs.find(claim.jobId))?.state).to.equal('done');
  });
}
