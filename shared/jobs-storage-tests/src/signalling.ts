import { eventually } from '@longshore/test-support';
import { expect } from 'chai';
import { it } from 'mocha';
import {
  type Claim,
  endSignal,
  maxSignalBytes,
  maxSignalsBytes,
  type StepHistory,
} from '@longshore/jobs/storage';
import { stepOf, suspension } from './stepping.js';
import { type Fixture, newJob } from './storage-under-test.js';

/** Defines the tests of signals to jobs, and of jobs that wait for them. */
export function signalling(fixture: Fixture): void {
  const signalsOf = async ({ jobId: id, queue }: Claim): Promise<StepHistory['signals']> =>
    (await fixture.storage.steps.read({ id, queue })).signals;
  /** Has the background roles wake the job. */
  const untilAwake = (id: string): Promise<unknown> =>
    eventually(
      async () => {
        await fixture.storage.maintenance.resolveDependencies(1_000);
        await fixture.storage.maintenance.promoteDue(1_000);
        return (await fixture.storage.jobs.find(id))?.state;
      },
      (state) => state === 'enqueued',
    );
  const settled = async (): Promise<void> => {
    while ((await fixture.storage.maintenance.resolveDependencies(1_000)) > 0);
    await fixture.storage.maintenance.promoteDue(1_000);
  };

  it('a signal is kept for a job in any unfinished state, in the order of arrival', async () => {
    const { claim } = await fixture.claimOne();
    const waiting = await fixture.enqueue(claim.queue, { due: { inMs: 3_600_000 } });
    for (const id of [claim.jobId, waiting.id])
      for (const data of [1, 2])
        await fixture.storage.steps.signal(id, { name: 'packed', data, sentBy: 'ann' });
    for (const each of [claim, { ...claim, jobId: waiting.id }]) {
      const signals = await signalsOf(each);
      expect(signals.map(({ name, data, sentBy }) => [name, data, sentBy])).to.deep.equal([
        ['packed', 1, 'ann'],
        ['packed', 2, 'ann'],
      ]);
    }
  });

  it('a signal with the same name and id is delivered once', async () => {
    const { claim } = await fixture.claimOne();
    const results = [];
    for (const [name, id] of [
      ['a', 'x'],
      ['a', 'x'],
      ['b', 'x'],
      ['a', 'y'],
    ] as const)
      results.push(await fixture.storage.steps.signal(claim.jobId, { name, id, data: results.length }));
    expect(results.map((result) => result.outcome === 'ok' && result.changed)).to.deep.equal([
      true,
      false,
      true,
      true,
    ]);
    expect((await signalsOf(claim)).map(({ data }) => data)).to.deep.equal([0, 2, 3]);
  });

  it('a signal wakes a suspended job that waits for it', async () => {
    const { claim } = await fixture.claimOne();
    await fixture.storage.completions.complete([{ claim, outcome: suspension({ packed: 1 }) }]);
    await fixture.storage.steps.signal(claim.jobId, { name: 'other' });
    await settled();
    expect(await fixture.storage.jobs.find(claim.jobId)).to.include({ state: 'scheduled' });
    await fixture.storage.steps.signal(claim.jobId, { name: 'packed' });
    await untilAwake(claim.jobId);
  });

  it('a job that has what it waits for is due as soon as it is suspended', async () => {
    const { claim } = await fixture.claimOne();
    await fixture.storage.steps.signal(claim.jobId, { name: 'packed' });
    await fixture.storage.completions.complete([{ claim, outcome: suspension({ packed: 1 }) }]);
    await untilAwake(claim.jobId);
  });

  it('a job that waits for several signals is woken by the last', async () => {
    const { claim } = await fixture.claimOne();
    await fixture.storage.completions.complete([{ claim, outcome: suspension({ vote: 2 }) }]);
    await fixture.storage.steps.signal(claim.jobId, { name: 'vote' });
    await settled();
    expect(await fixture.storage.jobs.find(claim.jobId)).to.include({ state: 'scheduled' });
    await fixture.storage.steps.signal(claim.jobId, { name: 'vote' });
    await untilAwake(claim.jobId);
  });

  it('no signal is missed that is sent while its job is being suspended', async () => {
    const queue = fixture.newQueue();
    await fixture.storage.enqueuer.enqueue(Array.from({ length: 50 }, () => newJob(queue)));
    const { id } = await fixture.register(queue);
    const claims = (await fixture.claim(id, queue, 50)).map(({ claim }) => claim);
    await Promise.all([
      ...claims.map((claim) =>
        fixture.storage.completions.complete([{ claim, outcome: suspension({ go: 1 }) }]),
      ),
      ...claims.map((claim) => fixture.storage.steps.signal(claim.jobId, { name: 'go' })),
      ...claims.map(() => fixture.storage.maintenance.resolveDependencies(10)),
    ]);
    await eventually(
      async () => {
        await settled();
        return fixture.storage.jobs.count({ queue: [queue], state: ['scheduled'] });
      },
      ({ count }) => count === 0,
    );
  });

  it('a job that has ended refuses signals, and one that does not exist is unknown', async () => {
    const { claim } = await fixture.claimOne();
    await fixture.storage.completions.complete([{ claim, outcome: { kind: 'done', result: 'null' } }]);
    expect(await fixture.storage.steps.signal(claim.jobId, { name: 'late' })).to.include({
      outcome: 'illegal',
    });
    expect(await fixture.storage.steps.signal(newJob('none').id, { name: 'late' })).to.include({
      outcome: 'unknown',
    });
    expect(await signalsOf(claim)).to.deep.equal([]);
  });

  it('a job accepts no further signal once their data takes too many bytes, but the ends of jobs', async () => {
    const { claim: parent } = await fixture.claimOne();
    const data = 'x'.repeat(maxSignalBytes - 2);
    const send = async (id: string): Promise<unknown> => {
      const result = await fixture.storage.steps.signal(parent.jobId, { name: 'large', id, data });
      return result.outcome === 'ok' ? result.changed : result.outcome;
    };
    const allowed = Math.ceil(maxSignalsBytes / maxSignalBytes);
    for (let number = 1; number <= allowed; number++) expect(await send(`${number}`)).to.equal(true);
    expect(await send('excess')).to.equal('full');
    expect(await send('1')).to.equal(false);
    const { claim: child } = await fixture.claimOne({ meta: { resumes: parent.jobId } });
    await fixture.storage.completions.complete([
      { claim: child, outcome: { kind: 'done', result: '1' }, hasMeta: true },
    ]);
    await settled();
    const names = (await signalsOf(parent)).map(({ name }) => name);
    expect([names.length, names.at(-1)]).to.deep.equal([allowed + 1, endSignal(child.jobId)]);
  }).timeout(60_000);

  it('a job in a queue that the caller cannot see is unknown', async () => {
    const { claim } = await fixture.claimOne();
    const result = await fixture.storage.steps.signal(
      claim.jobId,
      { name: 'packed' },
      { visibleQueues: ['other'] },
    );
    expect([result.outcome, await signalsOf(claim)]).to.deep.equal(['unknown', []]);
  });

  it('names that announce the ends of jobs, and what is out of bounds, are refused', async () => {
    const { claim } = await fixture.claimOne();
    for (const signal of [
      { name: '' },
      { name: 'job:1' },
      { name: 'a', id: '' },
      { name: 'a', data: 'x'.repeat(1_048_577) },
    ]) {
      const error = await fixture.storage.steps
        .signal(claim.jobId, signal)
        .catch((thrown: unknown) => thrown);
      expect(error, JSON.stringify(signal).slice(0, 40)).to.be.instanceOf(RangeError);
    }
  });

  it('unfinished jobs are found by their key, and jobs by what they wait for', async () => {
    const { claim } = await fixture.claimOne({ meta: { correlate: 'order:1' } });
    const other = await fixture.enqueue(claim.queue, {
      meta: { correlate: 'order:1' },
      due: { inMs: 3_600_000 },
    });
    const ended = await fixture.claimOne({ meta: { correlate: 'order:1' } });
    await fixture.storage.completions.complete([
      { claim: ended.claim, outcome: { kind: 'done', result: 'null' }, hasMeta: true },
      { claim, outcome: suspension({ packed: 1 }), hasMeta: true },
    ]);
    const found = await fixture.storage.steps.listCorrelated('order:1', 10);
    expect(found.map(({ id }) => id)).to.deep.equal([claim.jobId, other.id]);
    const ids = async (filter: object): Promise<string[]> =>
      (await fixture.storage.jobs.list({ filter: { queue: [claim.queue], ...filter }, limit: 10 })).map(
        ({ id }) => id,
      );
    expect(await ids({ awaits: ['packed', 'x'] })).to.deep.equal([claim.jobId]);
    expect(await ids({ awaits: ['x'] })).to.deep.equal([]);
    expect((await ids({ correlate: ['order:1'] })).toSorted()).to.deep.equal(
      [claim.jobId, other.id].toSorted(),
    );
  });

  for (const [state, outcome] of [
    ['done', { kind: 'done', result: '{"ok":true}' }],
    ['failed', { kind: 'failed', error: { name: 'Error', message: 'no', stack: null } }],
  ] as const)
    it(`a job that waits for another one is told that it is ${state}`, async () => {
      const { claim } = await fixture.claimOne();
      const { claim: child } = await fixture.claimOne({ meta: { resumes: claim.jobId } });
      await fixture.storage.completions.complete([
        { claim, outcome: suspension({ [endSignal(child.jobId)]: 1 }) },
      ]);
      await fixture.storage.completions.complete([{ claim: child, outcome, hasMeta: true }]);
      await untilAwake(claim.jobId);
      const [signal] = await signalsOf(claim);
      expect(signal).to.deep.include({
        name: endSignal(child.jobId),
        data: {
          state,
          result: state === 'done' ? { ok: true } : null,
          error: state === 'done' ? null : { name: 'Error', message: 'no', stack: null },
        },
      });
    });

  it('a cancelled job cancels the jobs that it asked to be cancelled with it', async () => {
    const { claim } = await fixture.claimOne();
    const child = await fixture.enqueue(claim.queue, {
      meta: { resumes: claim.jobId },
      due: { inMs: 3_600_000 },
    });
    await fixture.storage.completions.complete([
      { claim, outcome: suspension({ [endSignal(child.id)]: 1 }, [child.id]) },
    ]);
    await fixture.storage.control.cancel(claim.jobId);
    await eventually(
      async () => {
        await settled();
        await fixture.storage.maintenance.maintain();
        return (await fixture.storage.jobs.find(child.id))?.state;
      },
      (state) => state === 'cancelled',
    );
  });

  it('a signal that is not what a running job waits for changes nothing', async () => {
    const { claim } = await fixture.claimOne();
    await fixture.storage.steps.record(claim, [stepOf('one')]);
    await fixture.storage.steps.signal(claim.jobId, { name: 'packed' });
    await settled();
    expect(await fixture.storage.jobs.find(claim.jobId)).to.include({ state: 'processing', attempt: 1 });
  });
}
