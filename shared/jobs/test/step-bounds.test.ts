import { expect } from 'chai';
import { defineJob, handleJob, JobClient, type JobContext, MemoryStorage } from '../src/index.js';
import { maxSignals } from '../src/storage/steps.js';
import { maxSteps, maxStepsBytes } from '../src/server/steps/stored-steps.js';
import { jobInState, whileServing } from './support/serving.js';

const work = defineJob({ name: 'work', queue: 'work', maxAttempts: 2, retryDelay: [0] });

describe('The bounds of the steps of a job', () => {
  /** Runs a job until it is done. */
  async function run(handle: (context: JobContext<unknown>) => unknown): Promise<void> {
    const storage = new MemoryStorage({
      transaction: (inTransaction) => inTransaction({ query: async () => ({ rows: [] }) }),
    });
    await whileServing(storage, 'work', [handleJob(work, handle)], async () => {
      const { id } = await new JobClient(storage).enqueue(work, {});
      await jobInState(storage, id, 'done');
    });
  }

  it('end the job without a retry', async () => {
    const storage = new MemoryStorage();
    const names = Array.from({ length: maxSteps + 1 }, (_, index) => `step-${index}`);
    const handler = handleJob(work, async ({ step }) => {
      for (const name of names) await step(name, () => null);
    });
    const { attempt, error } = await whileServing(storage, 'work', [handler], async () => {
      const { id } = await new JobClient(storage).enqueue(work, {});
      return jobInState(storage, id, 'failed');
    });
    expect({ attempt, name: error?.name }).to.deep.equal({ attempt: 1, name: 'TooManyStepsError' });
  }).timeout(30_000);

  it('limit their number, also across attempts', async () => {
    let message = '';
    let hasRun = false;
    const names = Array.from({ length: maxSteps }, (_, index) => `step-${index}`);
    await run(async ({ step, job }) => {
      for (const name of names.slice(0, job.attempt === 1 ? -1 : undefined)) await step(name, () => null);
      if (job.attempt === 1) throw new Error('later');
      await step('excess', () => (hasRun = true)).catch((error: unknown) => (message = String(error)));
    });
    expect(hasRun).to.equal(false);
    expect(message)
      .to.contain('The step "excess" cannot start')
      .and.contain('split the job, with enqueueAndWait');
  }).timeout(30_000);

  it('let no step start once the results take too many bytes, also across attempts', async () => {
    const large = 'x'.repeat(1_000_000);
    const allowed = Math.ceil(maxStepsBytes / (large.length + 2));
    const half = allowed / 2;
    let message = '';
    let runs = 0;
    await run(async ({ step, job }) => {
      const part = async (number: number): Promise<void> => {
        const print = async (): Promise<string> => {
          runs++;
          return large;
        };
        const name = `part-${number}`;
        await (number % 2 === 0 ? step(name, print, { transaction: true }) : step(name, print));
      };
      for (let number = 1; number <= (job.attempt === 1 ? half : allowed); number++) await part(number);
      if (job.attempt === 1) throw new Error('later');
      await part(allowed + 1).catch((error: unknown) => (message = String(error)));
    });
    expect(runs).to.equal(allowed);
    expect(message)
      .to.contain(`The step "part-${allowed + 1}" cannot start`)
      .and.contain('store large results elsewhere');
  }).timeout(30_000);
});

describe('The bounds of the signals of a job', () => {
  it('limit their number', async () => {
    const storage = new MemoryStorage();
    const client = new JobClient(storage);
    const { id } = await client.enqueue(work, {}, { correlate: 'order:7' });
    for (let number = 1; number <= maxSignals; number++) await client.sendSignal(id, 'packed');
    const { id: other } = await client.enqueue(work, {}, { correlate: 'order:7' });
    const error: unknown = await client
      .sendSignal({ correlate: 'order:7' }, 'packed')
      .catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(RangeError).with.property('message').that.contains(`the job ${id} has`);
    const signals = async (job: string): Promise<number> =>
      (await storage.steps.read({ id: job })).signals.length;
    expect([await signals(id), await signals(other)]).to.deep.equal([maxSignals, 1]);
  }).timeout(30_000);
});
