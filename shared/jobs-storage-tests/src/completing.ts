import { expect } from 'chai';
import { it } from 'mocha';
import type { JobError } from '@longshore/jobs';
import { type Claim, maxKeptAttempts, type Outcome } from '@longshore/jobs/storage';
import { type Fixture, yearMs } from './storage-under-test.js';

const error: JobError = {
  name: 'TypeError',
  message: 'No such ship',
  stack: 'TypeError: No such ship\n  at sea',
};
const done: Outcome = { kind: 'done', result: '{"ok":true}' };

export function completing(fixture: Fixture): void {
  const complete = async (claim: Claim, outcome: Outcome): Promise<Claim[]> =>
    fixture.storage.completions.complete([{ claim, outcome }]);

  it('stores the result of a done job', async () => {
    const { claim } = await fixture.claimOne();
    expect(await complete(claim, done)).to.deep.equal([]);
    const job = await fixture.storage.jobs.find(claim.jobId);
    expect(job).to.include({ state: 'done', error: null, attempt: 1, serverId: claim.serverId });
    expect(job?.result).to.deep.equal({ ok: true });
    expect(job?.finishedAt).to.be.a('date');
  });

  it('stores a result of null', async () => {
    const { claim } = await fixture.claimOne();
    await complete(claim, { kind: 'done', result: 'null' });
    expect(await fixture.storage.jobs.find(claim.jobId)).to.include({ state: 'done', result: null });
  });

  it('stores the error of a failed job', async () => {
    const { claim } = await fixture.claimOne();
    await complete(claim, { kind: 'failed', error });
    const job = await fixture.storage.jobs.find(claim.jobId);
    expect(job).to.include({ state: 'failed', result: null });
    expect(job?.error).to.deep.equal(error);
  });

  it('schedules a job for a retry, and keeps its error', async () => {
    const { claim } = await fixture.claimOne();
    await complete(claim, { kind: 'retry', error, delayMs: yearMs });
    const job = await fixture.storage.jobs.find(claim.jobId);
    expect(job).to.include({ state: 'scheduled', attempt: 1, serverId: null });
    expect(job?.error).to.deep.equal(error);
    expect(job?.runAt).to.be.a('date');
  });

  it('keeps the first and the newest attempts of a job that fails again and again, and numbers what it was in as before', async () => {
    const { queue, claim } = await fixture.claimOne({ maxAttempts: maxKeptAttempts + 3 });
    const outcomes: readonly Outcome[] = [
      { kind: 'retry', error, delayMs: 0 },
      { kind: 'failed', error },
    ];
    const numberOf = async (): Promise<readonly [number, string][]> => {
      const transitions = await fixture.storage.reports.listTransitions(claim.jobId, 1_000);
      return transitions
        .filter(({ attempt, reason }) => reason === 'created' || attempt === maxKeptAttempts - 10)
        .map(({ number, state, reason }) => [number, `${state}: ${reason}`]);
    };
    let before: Awaited<ReturnType<typeof numberOf>> = [];
    for (let attempt = 1; attempt <= maxKeptAttempts + 2; attempt++) {
      if (attempt === maxKeptAttempts - 8) before = await numberOf();
      const [claimed] = attempt === 1 ? [{ claim }] : await fixture.claimSome(claim.serverId, queue);
      await complete(claimed.claim, outcomes[attempt % 2] ?? done);
      if (attempt % 2 === 1) await fixture.storage.control.retry(claim.jobId);
      else await fixture.untilPromoted(claim.jobId);
    }
    const numbers = (await fixture.storage.jobs.listAttempts(claim.jobId)).map(({ attempt }) => attempt);
    expect(numbers).to.have.length(maxKeptAttempts - 1); // and the next one, once it has started
    expect([numbers[0], numbers[1], numbers.at(-1)]).to.deep.equal([1, 5, maxKeptAttempts + 2]);
    expect(before.length).to.be.greaterThan(2);
    expect(await numberOf()).to.deep.equal(before);
  });

  it('cancels a job if its handler requests it', async () => {
    const { claim } = await fixture.claimOne();
    await complete(claim, { kind: 'cancelled', error });
    const job = await fixture.storage.jobs.find(claim.jobId);
    expect(job?.state).to.equal('cancelled');
    expect(job?.error).to.deep.equal(error);
  });

  it('schedules a snoozed job without counting the attempt', async () => {
    const { claim } = await fixture.claimOne();
    await complete(claim, { kind: 'snooze', delayMs: yearMs });
    expect(await fixture.storage.jobs.find(claim.jobId)).to.include({
      state: 'scheduled',
      attempt: 0,
      error: null,
    });
    expect(await fixture.storage.jobs.listAttempts(claim.jobId)).to.deep.equal([]);
  });

  it('clears the error when a later attempt succeeds, and keeps both attempts', async () => {
    const { queue, claim } = await fixture.claimOne();
    await complete(claim, { kind: 'retry', error, delayMs: 0 });
    await fixture.untilPromoted(claim.jobId);
    const [second] = await fixture.claimSome(claim.serverId, queue);
    await complete(second.claim, done);
    expect(await fixture.storage.jobs.find(claim.jobId)).to.include({
      state: 'done',
      attempt: 2,
      error: null,
    });
    const attempts = await fixture.storage.jobs.listAttempts(claim.jobId);
    expect(attempts.map(({ attempt, outcome }) => [attempt, outcome])).to.deep.equal([
      [1, 'failed'],
      [2, 'done'],
    ]);
    expect(attempts[0]?.error).to.deep.equal(error);
  });

  it('ignores a claim of an earlier attempt, and returns it', async () => {
    const { queue, claim } = await fixture.claimOne();
    await fixture.silence(claim.serverId);
    await fixture.storage.maintenance.rescue();
    const { id } = await fixture.register(queue);
    const [current] = await fixture.claim(id, queue);
    expect(await complete(claim, done)).to.deep.equal([claim]);
    expect(await fixture.storage.jobs.find(claim.jobId)).to.include({
      state: 'processing',
      attempt: 2,
      serverId: id,
    });
    expect(await complete(current?.claim ?? claim, done)).to.deep.equal([]);
  });

  it('finishes a job once, however often its outcome is written', async () => {
    const { queue, claim } = await fixture.claimOne();
    await complete(claim, done);
    await complete(claim, { kind: 'failed', error });
    expect((await fixture.storage.jobs.find(claim.jobId))?.state).to.equal('done');
    expect((await fixture.storage.jobs.count({ queue: [queue] })).count).to.equal(1);
  });

  it('stores outcomes of several kinds and queues in one call', async () => {
    const claims = [
      (await fixture.claimOne()).claim,
      (await fixture.claimOne()).claim,
      (await fixture.claimOne()).claim,
    ];
    const outcomes: Outcome[] = [done, { kind: 'failed', error }, { kind: 'retry', error, delayMs: yearMs }];
    const stale = await fixture.storage.completions.complete(
      claims.map((claim, index) => ({ claim, outcome: outcomes[index] ?? done })),
    );
    expect(stale).to.deep.equal([]);
    const states = await Promise.all(
      claims.map(async ({ jobId }) => (await fixture.storage.jobs.find(jobId))?.state),
    );
    expect(states).to.deep.equal(['done', 'failed', 'scheduled']);
  });
}
