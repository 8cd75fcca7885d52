import { eventually } from '@longshore/test-support';
import { expect } from 'chai';
import { it } from 'mocha';
import type { Claim, NewJob, Outcome } from '@longshore/jobs/storage';
import { childOf, error } from './dependent-job.js';
import { type Fixture, newJob, yearMs } from './storage-under-test.js';

export function transitions(fixture: Fixture): void {
  /** Returns each transition as `state reason`. */
  const stepsOf = async (id: string): Promise<string[]> =>
    (await fixture.storage.reports.listTransitions(id)).map(({ state, reason }) => `${state} ${reason}`);

  const end = async (claim: Claim, outcome: Outcome): Promise<void> => {
    expect(await fixture.storage.completions.complete([{ claim, outcome }])).to.deep.equal([]);
  };

  const done: Outcome = { kind: 'done', result: 'null' };

  async function claimAgain({ serverId, queue }: Claim): Promise<Claim> {
    return eventually(async () => {
      await fixture.storage.maintenance.promoteDue(1_000);
      await fixture.storage.maintenance.resolveDependencies(1_000);
      return (await fixture.claim(serverId, queue))[0]?.claim;
    });
  }

  it('are listed from creation to end, with the attempt and its server', async () => {
    const { claim } = await fixture.claimOne();
    await end(claim, done);
    const steps = await fixture.storage.reports.listTransitions(claim.jobId);
    expect(steps.map(({ state, reason }) => `${state} ${reason}`)).to.deep.equal([
      'enqueued created',
      'processing claimed',
      'done done',
    ]);
    expect(steps.map(({ attempt }) => attempt)).to.deep.equal([null, 1, 1]);
    expect(steps.map(({ serverId }) => serverId)).to.deep.equal([null, claim.serverId, claim.serverId]);
    const job = await fixture.storage.jobs.find(claim.jobId);
    expect(steps.map(({ at }) => at)).to.deep.equal([job?.createdAt, job?.startedAt, job?.finishedAt]);
  });

  it('include failed attempts, the pauses after them and the time of the retry', async () => {
    const { claim } = await fixture.claimOne();
    await end(claim, { kind: 'retry', error, delayMs: 1 });
    const paused = (await fixture.storage.reports.listTransitions(claim.jobId)).at(-1);
    expect(paused).to.deep.include({ state: 'scheduled', reason: 'failed', attempt: 1, error });
    expect(paused?.runAt).to.deep.equal((await fixture.storage.jobs.find(claim.jobId))?.runAt);
    await end(await claimAgain(claim), { kind: 'failed', error });
    expect(await stepsOf(claim.jobId)).to.deep.equal([
      'enqueued created',
      'processing claimed',
      'scheduled failed',
      'enqueued due',
      'processing claimed',
      'failed failed',
    ]);
  });

  it('show when a scheduled job became ready, and whether it was rescheduled or run early', async () => {
    const queue = fixture.newQueue();
    const { id: serverId } = await fixture.register(queue);
    const dueSoon = await fixture.enqueue(queue, { due: { inMs: 1 } });
    await end(await claimAgain({ serverId, queue, jobId: dueSoon.id, attempt: 1 }), done);
    expect((await stepsOf(dueSoon.id)).slice(0, 2)).to.deep.equal(['scheduled created', 'enqueued due']);
    const later = await fixture.enqueue(queue, { due: { at: new Date(4_000_000_000_000) } });
    await fixture.storage.control.reschedule(later.id, new Date(4_100_000_000_000));
    await fixture.storage.control.run(later.id);
    const steps = await fixture.storage.reports.listTransitions(later.id);
    expect(steps.map(({ state, reason }) => `${state} ${reason}`)).to.deep.equal([
      'scheduled created',
      'scheduled rescheduled',
      'enqueued run',
    ]);
    expect(steps.map(({ runAt }) => runAt?.getTime() ?? null)).to.deep.equal([
      4_000_000_000_000,
      4_100_000_000_000,
      null,
    ]);
  });

  it('include operators’ cancellations and retries', async () => {
    const queue = fixture.newQueue();
    const { id } = await fixture.enqueue(queue);
    await fixture.storage.control.cancel(id);
    await fixture.storage.control.retry(id);
    const { id: serverId } = await fixture.register(queue);
    await end(await claimAgain({ serverId, queue, jobId: id, attempt: 1 }), { kind: 'failed', error });
    await fixture.storage.control.retry(id);
    expect(await stepsOf(id)).to.deep.equal([
      'enqueued created',
      'cancelled cancelled',
      'enqueued retried',
      'processing claimed',
      'failed failed',
      'enqueued retried',
    ]);
    const failed = (await fixture.storage.reports.listTransitions(id))[4];
    expect(failed).to.deep.include({ attempt: 1, serverId, error });
  });

  it('include attempts that did not count: released and snoozed', async () => {
    const { claim } = await fixture.claimOne();
    await fixture.storage.claims.release([claim]);
    await end(await claimAgain(claim), { kind: 'snooze', delayMs: 1 });
    await end(await claimAgain(claim), done);
    expect(await stepsOf(claim.jobId)).to.deep.equal([
      'enqueued created',
      'processing claimed',
      'enqueued released',
      'processing claimed',
      'scheduled snoozed',
      'enqueued due',
      'processing claimed',
      'done done',
    ]);
  });

  it('include lost attempts', async () => {
    const { claim } = await fixture.claimOne({ maxAttempts: 2 });
    await fixture.silence(claim.serverId);
    await fixture.storage.maintenance.rescue();
    const { id: serverId } = await fixture.register(claim.queue);
    const second = await claimAgain({ ...claim, serverId });
    await fixture.silence(serverId);
    await fixture.storage.maintenance.rescue();
    const steps = await fixture.storage.reports.listTransitions(claim.jobId);
    expect(steps.map(({ state, reason }) => `${state} ${reason}`)).to.deep.equal([
      'enqueued created',
      'processing claimed',
      'enqueued lost',
      'processing claimed',
      'failed lost',
    ]);
    expect(steps[2]).to.deep.include({ attempt: 1, serverId: claim.serverId });
    expect(steps[4]).to.deep.include({ attempt: 2, serverId: second.serverId });
  });

  it('include the wait for a parent, and then for a time', async () => {
    const { claim } = await fixture.claimOne();
    const waitingFor = (due: NewJob['due']): NewJob => ({
      ...newJob(claim.queue),
      ...childOf([claim.jobId], 'onDone', { due }),
    });
    const [atOnce, later] = [waitingFor(null), waitingFor({ inMs: yearMs })];
    await fixture.storage.enqueuer.enqueue([atOnce, later]);
    await end(claim, done);
    const child = await claimAgain(claim);
    expect(child.jobId).to.equal(atOnce.id);
    expect(await stepsOf(atOnce.id)).to.deep.equal([
      'awaiting created',
      'enqueued parents-ended',
      'processing claimed',
    ]);
    expect(await stepsOf(later.id)).to.deep.equal(['awaiting created', 'scheduled parents-ended']);
    await fixture.storage.control.run(later.id);
    expect((await stepsOf(later.id)).at(-1)).to.equal('enqueued run');
  });

  it('are listed up to a limit: the creation and the newest, with constant numbers', async () => {
    const { claim } = await fixture.claimOne();
    await end(claim, { kind: 'failed', error });
    for (let round = 0; round < 4; round++) {
      await fixture.storage.control.retry(claim.jobId);
      await end(await claimAgain(claim), { kind: 'failed', error });
    }
    await fixture.storage.control.retry(claim.jobId);
    const all = await fixture.storage.reports.listTransitions(claim.jobId);
    const numbers = all.map(({ number }) => number);
    expect(numbers).to.deep.equal([...new Set(numbers)].toSorted((one, other) => one - other));
    for (let limit = 2; limit <= all.length + 1; limit++) {
      const listed = await fixture.storage.reports.listTransitions(claim.jobId, limit);
      expect(listed).to.deep.equal([all[0], ...all.slice(1).slice(-(limit - 1))]);
    }
  });

  it('are empty for an unknown job', async () => {
    expect(await fixture.storage.reports.listTransitions('nobody')).to.deep.equal([]);
  });
}
