import { defineJob, handleJob, type JobContext } from '@longshore/jobs';
import { expect } from 'chai';
import Type from 'typebox';
import { runJob, TestJobs } from '../src/index.js';

const dayMs = 86_400_000;
const work = defineJob({ name: 'work' });
const label = defineJob({ name: 'label', result: Type.String() });

const messageOf = (running: Promise<unknown>): Promise<unknown> =>
  running.then(
    () => 'succeeded',
    (error: unknown) => (error as Error).message,
  );

describe('runJob with steps', () => {
  it('runs through sleeps and retries of steps at once, with stored results', async () => {
    let runs = 0;
    const handler = handleJob(work, async ({ step, sleep }) => {
      const first = await step('first', () => ++runs);
      await sleep('pause', { ms: 30 * dayMs });
      const flaky = ({ attempt }: { attempt: number }): number => {
        if (attempt < 3) throw new Error('not yet');
        return attempt;
      };
      return [first, await step('flaky', flaky, { maxAttempts: 3, retryDelay: [dayMs] })];
    });
    const { result, steps } = await runJob(handler);
    expect(result).to.deep.equal([1, 3]);
    expect(runs).to.equal(1);
    expect(steps.map(({ name, kind, state, attempts }) => [name, kind, state, attempts])).to.deep.equal([
      ['first', 'step', 'done', 1],
      ['pause', 'sleep', 'done', 0],
      ['flaky', 'step', 'done', 3],
    ]);
  });

  it('gives waits the signals of the test, and lets others time out', async () => {
    const handler = handleJob(work, async ({ waitFor }) => ({
      packed: await waitFor('packed'),
      votes: await waitFor('vote', { all: 2, timeoutMs: dayMs }),
      other: await waitFor('other'),
    }));
    const signals = [
      { name: 'vote', data: 'yes' },
      { name: 'packed', data: { parcels: 2 } },
    ];
    const { result } = await runJob(handler, {}, { signals });
    expect(result).to.deep.equal({ packed: { parcels: 2 }, votes: ['yes'], other: null });
  });

  it('returns the signals that the handler sends, but not those of a transaction that fails', async () => {
    const handler = handleJob(work, async ({ sendSignal, step, transaction }) => {
      await sendSignal({ correlate: 'order:7' }, 'packed', { parcels: 2 });
      const fail = async ({ sendSignal: send }: Pick<JobContext<unknown>, 'sendSignal'>): Promise<void> => {
        await send('failed', 'lost');
        throw new Error('No');
      };
      await step('fails', fail, { transaction: true }).catch(() => undefined);
      await step('books', ({ sendSignal: send }) => send('other', 'booked', null, { id: '1' }), {
        transaction: true,
      });
      await transaction(() => sendSignal('third', 'done'));
    });
    const { sent } = await runJob(handler);
    expect(sent).to.deep.equal([
      { target: { correlate: 'order:7' }, name: 'packed', data: { parcels: 2 }, id: null },
      { target: 'other', name: 'booked', data: null, id: '1' },
      { target: 'third', name: 'done', data: null, id: null },
    ]);
  });

  it('receives what the handler signals to its own job', async () => {
    const handler = handleJob(work, async ({ job, step, sendSignal, waitFor }) => {
      await step('ask', () => sendSignal(job.id, 'answer', 42));
      return waitFor('answer');
    });
    expect((await runJob(handler)).result).to.equal(42);
  });

  it('ends the jobs that the handler waits for with the results of the test, or asks for them', async () => {
    const handler = handleJob(work, async ({ enqueueAndWait }) => {
      const printed = [1, 2].map((box) => enqueueAndWait(label, {}, { step: `label:${box}` }));
      const ended = await Promise.allSettled(printed);
      return ended.map((end) => (end.status === 'fulfilled' ? end.value : (end.reason as Error).message));
    });
    const children = { 'label:1': 'L1', 'label:2': new Error('out of paper') };
    const { result, enqueued } = await runJob(handler, {}, { children });
    expect(result).to.deep.equal(['L1', 'out of paper']);
    expect(enqueued.map(({ state }) => state)).to.have.members(['done', 'failed']);
    expect(await messageOf(runJob(handler))).to.contain(`{ children: { 'label:1': … } }`);
  });

  it('stores a step with the statements of its transaction', async () => {
    const handler = handleJob(work, ({ step }) =>
      step(
        'book',
        async ({ client, enqueue }) => {
          await enqueue(label);
          return (await client.query<{ paid: number }>('select paid')).rows[0]?.paid;
        },
        { transaction: true },
      ),
    );
    const { result, enqueued } = await runJob(handler, {}, { query: async () => ({ rows: [{ paid: 7 }] }) });
    expect(result).to.equal(7);
    expect(enqueued.map(({ name }) => name)).to.deep.equal(['label']);
  });

  it('rejects with the error of a step that the handler does not catch', async () => {
    const handler = handleJob(work, ({ step }) =>
      step('charge', () => {
        throw new Error('declined');
      }),
    );
    expect(await messageOf(runJob(handler))).to.equal('declined');
  });
});

describe('TestJobs with steps', () => {
  it('runs a job through its waits by its clock, signals and other jobs', async () => {
    const handlers = [
      handleJob(label, () => 'L8'),
      handleJob(work, async ({ waitFor, sleep, enqueueAndWait }) => {
        const packed = await waitFor('packed');
        await sleep('cool-off', { ms: dayMs });
        return { packed, label: await enqueueAndWait(label) };
      }),
    ];
    const jobs = new TestJobs({ handlers });
    const { id } = await jobs.client.enqueue(work);
    expect(await jobs.drain()).to.include({ suspended: 1, done: 0 });
    expect(await jobs.client.sendSignal(id, 'packed', 3)).to.deep.equal([id]);
    expect(await jobs.drain()).to.include({ suspended: 1, done: 0 });
    jobs.clock.advance(dayMs);
    expect(await jobs.drain()).to.include({ suspended: 1, done: 2 });
    expect((await jobs.storage.jobs.find(id))?.result).to.deep.equal({ packed: 3, label: 'L8' });
  });
});
