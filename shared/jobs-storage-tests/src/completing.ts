import { expect } from 'chai';
import { it } from 'mocha';
import type { JobError } from '@longshore/jobs';
import type { Claim, Outcome } from '@longshore/jobs/storage';
import { type Bench, until } from './storage-under-test.js';

const error: JobError = {
  name: 'TypeError',
  message: 'No such ship',
  stack: 'TypeError: No such ship\n  at sea',
};
const done: Outcome = { kind: 'done', result: '{"ok":true}' };

export function completing(bench: Bench): void {
  const complete = async (claim: Claim, outcome: Outcome): Promise<Claim[]> =>
    bench.storage.completions.complete([{ claim, outcome }]);

  it('keeps the result of a job that is done', async () => {
    const { claim } = await bench.claimOne();
    expect(await complete(claim, done)).to.deep.equal([]);
    const job = await bench.storage.jobs.find(claim.jobId);
    expect(job).to.include({ state: 'done', error: null, attempt: 1, serverId: claim.serverId });
    expect(job?.result).to.deep.equal({ ok: true });
    expect(job?.finishedAt).to.be.a('date');
  });

  it('keeps a result of null', async () => {
    const { claim } = await bench.claimOne();
    await complete(claim, { kind: 'done', result: 'null' });
    expect(await bench.storage.jobs.find(claim.jobId)).to.include({ state: 'done', result: null });
  });

  it('keeps the error of a job that failed', async () => {
    const { claim } = await bench.claimOne();
    await complete(claim, { kind: 'failed', error });
    const job = await bench.storage.jobs.find(claim.jobId);
    expect(job).to.include({ state: 'failed', result: null });
    expect(job?.error).to.deep.equal(error);
  });

  it('sends a job that is to be retried back to wait, with its error on record', async () => {
    const { claim } = await bench.claimOne();
    await complete(claim, { kind: 'retry', error, delayMs: 60_000 });
    const job = await bench.storage.jobs.find(claim.jobId);
    expect(job).to.include({ state: 'scheduled', attempt: 1, serverId: null });
    expect(job?.error).to.deep.equal(error);
    expect(job?.runAt).to.be.a('date');
  });

  it('ends a job cancelled if its handler asked for that', async () => {
    const { claim } = await bench.claimOne();
    await complete(claim, { kind: 'cancelled', error });
    const job = await bench.storage.jobs.find(claim.jobId);
    expect(job?.state).to.equal('cancelled');
    expect(job?.error).to.deep.equal(error);
  });

  it('sends a job that snoozes back to wait, the attempt not counted', async () => {
    const { claim } = await bench.claimOne();
    await complete(claim, { kind: 'snooze', delayMs: 60_000 });
    expect(await bench.storage.jobs.find(claim.jobId)).to.include({
      state: 'scheduled',
      attempt: 0,
      error: null,
    });
    expect(await bench.storage.jobs.listAttempts(claim.jobId)).to.deep.equal([]);
  });

  it('clears the error when a later attempt succeeds, and keeps both attempts', async () => {
    const { queue, claim } = await bench.claimOne();
    await complete(claim, { kind: 'retry', error, delayMs: 0 });
    await until(async () =>
      (await bench.storage.maintenance.promoteDue(100)).promoted > 0 ? true : undefined,
    );
    const [second] = await bench.claim(claim.serverId, queue);
    if (second === undefined) throw new Error('The job did not come back');
    await complete(second.claim, done);
    expect(await bench.storage.jobs.find(claim.jobId)).to.include({ state: 'done', attempt: 2, error: null });
    const attempts = await bench.storage.jobs.listAttempts(claim.jobId);
    expect(attempts.map(({ attempt, outcome }) => [attempt, outcome])).to.deep.equal([
      [1, 'failed'],
      [2, 'done'],
    ]);
    expect(attempts[0]?.error).to.deep.equal(error);
  });

  it('changes nothing for a claim of an earlier attempt, and names it', async () => {
    const { queue, claim } = await bench.claimOne();
    await bench.silence(claim.serverId);
    await bench.storage.maintenance.rescue();
    const { id } = await bench.register(queue);
    const [current] = await bench.claim(id, queue);
    expect(await complete(claim, done)).to.deep.equal([claim]);
    expect(await bench.storage.jobs.find(claim.jobId)).to.include({
      state: 'processing',
      attempt: 2,
      serverId: id,
    });
    expect(await complete(current?.claim ?? claim, done)).to.deep.equal([]);
  });

  it('finishes a job once, however often it is told', async () => {
    const { queue, claim } = await bench.claimOne();
    await complete(claim, done);
    await complete(claim, { kind: 'failed', error });
    expect((await bench.storage.jobs.find(claim.jobId))?.state).to.equal('done');
    expect((await bench.storage.jobs.count({ queue: [queue] })).count).to.equal(1);
  });

  it('writes outcomes of several kinds and queues in one call', async () => {
    const claims = [
      (await bench.claimOne()).claim,
      (await bench.claimOne()).claim,
      (await bench.claimOne()).claim,
    ];
    const outcomes: Outcome[] = [done, { kind: 'failed', error }, { kind: 'retry', error, delayMs: 60_000 }];
    const stale = await bench.storage.completions.complete(
      claims.map((claim, index) => ({ claim, outcome: outcomes[index] ?? done })),
    );
    expect(stale).to.deep.equal([]);
    const states = await Promise.all(
      claims.map(async ({ jobId }) => (await bench.storage.jobs.find(jobId))?.state),
    );
    expect(states).to.deep.equal(['done', 'failed', 'scheduled']);
  });
}
