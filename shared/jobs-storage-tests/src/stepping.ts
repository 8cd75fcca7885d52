import { eventually } from '@longshore/test-support';
import { expect } from 'chai';
import { it } from 'mocha';
import type { Claim, NewStep, Outcome, Step } from '@longshore/jobs/storage';
import { type Fixture, hourMs, newJob, yearMs } from './storage-under-test.js';

/** Returns a step that is done. */
export function stepOf(name: string, position = 1, step: Partial<NewStep> = {}): NewStep {
  const at = new Date('2026-03-01T12:00:00Z');
  return {
    name,
    kind: 'step',
    state: 'done',
    position,
    result: '{"id":7}',
    error: null,
    isRemembered: true,
    attempts: 1,
    until: null,
    signals: null,
    childId: null,
    input: null,
    startedAt: at,
    finishedAt: at,
    ...step,
  };
}

/** Returns the outcome of an attempt that waits for a year, or for these signals. */
export function suspension(awaits: Readonly<Record<string, number>> = {}, cancels: string[] = []): Outcome {
  return { kind: 'suspend', until: new Date(Date.now() + yearMs), awaits, cancels };
}

/** Defines the tests of stored steps, and of jobs that are suspended. */
export function stepping(fixture: Fixture): void {
  const namesOf = async ({ jobId: id, queue }: Claim): Promise<string[]> =>
    (await fixture.storage.steps.read({ id, queue })).steps.map(({ name }) => name);
  const errorOf = (promise: Promise<unknown>): Promise<unknown> =>
    promise.then(
      () => null,
      (error: unknown) => (error as Error).name,
    );

  it('steps are read as they were stored, by position', async () => {
    const { claim } = await fixture.claimOne();
    const error = { name: 'Error', message: 'no', stack: null };
    const waits = stepOf('waits', 2, {
      kind: 'wait',
      state: 'waiting',
      result: 'null',
      error,
      isRemembered: false,
      attempts: 3,
      until: new Date('2027-01-01T00:00:00Z'),
      signals: 4,
      childId: claim.jobId,
      input: 'print',
      finishedAt: null,
    });
    await fixture.storage.steps.record(claim, [waits, stepOf('first')]);
    const { steps } = await fixture.storage.steps.read({ id: claim.jobId, queue: claim.queue });
    const stored = (step: NewStep): Step => ({
      ...step,
      result: JSON.parse(step.result) as Step['result'],
      jobAttempt: 1,
      serverId: claim.serverId,
    });
    expect(steps).to.deep.equal([stored(stepOf('first')), stored(waits)]);
  });

  it('a job without steps, and one that does not exist, have none', async () => {
    const { claim } = await fixture.claimOne();
    const none = { steps: [], signals: [] };
    const { read } = { read: fixture.storage.steps.read.bind(fixture.storage.steps) };
    expect(await read({ id: claim.jobId, queue: claim.queue })).to.deep.equal(none);
    expect(await read({ id: newJob('none').id, queue: 'none' })).to.deep.equal(none);
  });

  it('a step replaces the one with its name', async () => {
    const { claim } = await fixture.claimOne();
    await fixture.storage.steps.record(claim, [stepOf('one', 1, { state: 'failed', isRemembered: false })]);
    await fixture.storage.steps.record(claim, [stepOf('one', 1, { result: '2' })]);
    const { steps } = await fixture.storage.steps.read({ id: claim.jobId, queue: claim.queue });
    expect(steps.map(({ state, result }) => [state, result])).to.deep.equal([['done', 2]]);
  });

  it('steps of many jobs at once are stored with their jobs', async () => {
    const queue = fixture.newQueue();
    await fixture.storage.enqueuer.enqueue(Array.from({ length: 20 }, () => newJob(queue)));
    const { id } = await fixture.register(queue);
    const claims = (await fixture.claim(id, queue, 20)).map(({ claim }) => claim);
    await Promise.all(
      claims.flatMap((claim) =>
        [1, 2, 3].map((each) =>
          fixture.storage.steps.record(claim, [stepOf(`${claim.jobId} ${each}`, each)]),
        ),
      ),
    );
    for (const claim of claims)
      expect(await namesOf(claim)).to.deep.equal([1, 2, 3].map((each) => `${claim.jobId} ${each}`));
  });

  it('an attempt that has lost its lease stores nothing, also beside one that has not', async () => {
    const { claim } = await fixture.claimOne();
    const other = await fixture.claimOne({ queue: claim.queue });
    await fixture.storage.claims.release([claim]);
    const errors = await Promise.all(
      [claim, other.claim, { ...other.claim, attempt: 2 }].map((each) =>
        errorOf(fixture.storage.steps.record(each, [stepOf('one')])),
      ),
    );
    expect(errors).to.deep.equal(['ClaimLostError', null, 'ClaimLostError']);
    expect([await namesOf(claim), await namesOf(other.claim)]).to.deep.equal([[], ['one']]);
  });

  it('a suspended attempt does not count, and its job waits for its time', async () => {
    const { claim } = await fixture.claimOne();
    await fixture.storage.steps.record(claim, [stepOf('one')]);
    const outcome = suspension({ packed: 1 });
    expect(await fixture.storage.completions.complete([{ claim, outcome }])).to.deep.equal([]);
    const job = await fixture.storage.jobs.find(claim.jobId);
    expect(job).to.include({ state: 'scheduled', attempt: 0 });
    expect(job?.awaits).to.deep.equal(['packed']);
    expect(job?.runAt?.getTime()).to.be.closeTo((outcome as { until: Date }).until.getTime(), 1);
    expect(await namesOf(claim)).to.deep.equal(['one']);
    const transitions = await fixture.storage.reports.listTransitions(claim.jobId);
    expect(transitions.map(({ reason }) => reason)).to.include('suspended');
  });

  it('a job that is to be cancelled is not suspended', async () => {
    const { claim } = await fixture.claimOne();
    await fixture.storage.control.cancel(claim.jobId);
    await fixture.storage.completions.complete([{ claim, outcome: suspension() }]);
    const job = await eventually(
      async () => {
        await fixture.storage.maintenance.maintain();
        return fixture.storage.jobs.find(claim.jobId);
      },
      (found) => found?.state === 'cancelled',
    );
    expect(job).to.include({ state: 'cancelled' });
  });

  it('a suspended job that is cancelled ends at once, and one that has run later waits for nothing', async () => {
    const { claim } = await fixture.claimOne();
    await fixture.storage.completions.complete([{ claim, outcome: suspension({ packed: 1 }) }]);
    await fixture.storage.control.run(claim.jobId);
    const [again] = await fixture.claimSome(claim.serverId, claim.queue);
    const error = { name: 'Error', message: 'no', stack: null };
    await fixture.storage.completions.complete([
      { claim: again.claim, outcome: { kind: 'retry', error, delayMs: hourMs }, hasMeta: true },
    ]);
    expect(await fixture.storage.jobs.find(claim.jobId)).to.deep.include({ state: 'scheduled', awaits: [] });
    await fixture.storage.control.cancel(claim.jobId);
    expect(await fixture.storage.jobs.find(claim.jobId)).to.include({ state: 'cancelled' });
  });

  it('a job is run again from a step: what started later is dropped', async () => {
    const { claim } = await fixture.claimOne();
    await fixture.storage.steps.record(claim, [stepOf('one', 1), stepOf('two', 2), stepOf('three', 3)]);
    const error = { name: 'Error', message: 'no', stack: null };
    await fixture.storage.completions.complete([{ claim, outcome: { kind: 'failed', error } }]);
    const unknown = await fixture.storage.steps.rerunFrom(claim.jobId, 'four');
    const result = await fixture.storage.steps.rerunFrom(claim.jobId, 'two');
    expect([unknown.outcome, result.outcome]).to.deep.equal(['unknownStep', 'ok']);
    expect(result).to.have.deep.property('dropped', ['two', 'three']);
    expect(await fixture.storage.jobs.find(claim.jobId)).to.include({ state: 'enqueued' });
    expect(await namesOf(claim)).to.deep.equal(['one']);
  });

  it('a running job is not run again from a step, and a suspended one is', async () => {
    const { claim } = await fixture.claimOne();
    await fixture.storage.steps.record(claim, [stepOf('one')]);
    expect(await fixture.storage.steps.rerunFrom(claim.jobId, 'one')).to.include({ outcome: 'illegal' });
    await fixture.storage.completions.complete([{ claim, outcome: suspension() }]);
    expect(await fixture.storage.steps.rerunFrom(claim.jobId, 'one')).to.include({ outcome: 'ok' });
    expect(await fixture.storage.jobs.find(claim.jobId)).to.include({ state: 'enqueued' });
  });

  it('steps are deleted with their job', async () => {
    const { claim } = await fixture.claimOne();
    await fixture.storage.steps.record(claim, [stepOf('one')]);
    await fixture.storage.steps.signal(claim.jobId, { name: 'packed' });
    await fixture.storage.completions.complete([{ claim, outcome: { kind: 'done', result: 'null' } }]);
    await fixture.storage.control.delete(claim.jobId);
    const history = await fixture.storage.steps.read({ id: claim.jobId, queue: claim.queue });
    expect(history).to.deep.equal({ steps: [], signals: [] });
  });

  it('steps and signals follow their job to another queue', async () => {
    const { claim } = await fixture.claimOne();
    const to = fixture.newQueue();
    await fixture.storage.steps.record(claim, [stepOf('one')]);
    await fixture.storage.completions.complete([{ claim, outcome: suspension({ packed: 1 }) }]);
    await fixture.storage.steps.signal(claim.jobId, { name: 'unpacked' });
    await fixture.storage.control.edit(
      [claim.jobId],
      async (jobs) =>
        new Map(
          [...jobs].map(([id, { args, ...job }]) => [id, { ...job, args: JSON.stringify(args), queue: to }]),
        ),
    );
    const history = await fixture.storage.steps.read({ id: claim.jobId, queue: to });
    expect([history.steps.length, history.signals.length]).to.deep.equal([1, 1]);
    await fixture.storage.steps.signal(claim.jobId, { name: 'packed' });
    await fixture.storage.maintenance.resolveDependencies(100);
    await fixture.untilPromoted(claim.jobId);
  });
}
