import { expect } from 'chai';
import { defineJob, handleJob, JobClient, type Logger, MemoryStorage, silentLogger } from '../src/index.js';
import { jobInState, whileServing } from './support/serving.js';

const untilAborted = async (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });

describe('The limits of an attempt', () => {
  let storage: MemoryStorage;

  beforeEach(() => {
    storage = new MemoryStorage();
  });

  it('fail a job at once if its error is listed in giveUpOn', async () => {
    const queue = 'work';
    const hopeless = defineJob({ name: 'hopeless', queue, giveUpOn: [RangeError] });
    const handler = handleJob(hopeless, () => {
      throw new RangeError('never');
    });
    await whileServing(storage, queue, [handler], async () => {
      const { id } = await new JobClient(storage).enqueue(hopeless, {});
      expect(await jobInState(storage, id, 'failed')).to.include({ attempt: 1, maxAttempts: 10 });
    });
  });

  it('end an attempt that exceeds its definition’s timeout with a JobTimeoutError, and retry it', async () => {
    const queue = 'work';
    const slow = defineJob({ name: 'slow', queue, timeoutMs: 20, retryDelay: [1] });
    const handler = handleJob(slow, async ({ job, signal }) =>
      job.attempt === 1 ? untilAborted(signal) : 'in time',
    );
    await whileServing(storage, queue, [handler], async () => {
      const { id } = await new JobClient(storage).enqueue(slow, {});
      expect((await jobInState(storage, id, 'done')).result).to.equal('in time');
      const attempts = await storage.jobs.listAttempts(id);
      expect(attempts?.map(({ error }) => error?.name)).to.deep.equal(['JobTimeoutError', undefined]);
    });
  });

  it('prefer the timeout of the enqueue options to that of the definition', async () => {
    const queue = 'work';
    const slow = defineJob({ name: 'slow', queue, timeoutMs: 60_000, maxAttempts: 1 });
    const handler = handleJob(slow, async ({ signal }) => untilAborted(signal));
    await whileServing(storage, queue, [handler], async () => {
      const { id } = await new JobClient(storage).enqueue(slow, {}, { timeoutMs: 10 });
      expect((await jobInState(storage, id, 'failed')).error?.message).to.contain('10 ms');
    });
  });

  it('fail an attempt whose handler returns after its timeout', async () => {
    const queue = 'work';
    const late = defineJob({ name: 'late', queue, timeoutMs: 10, maxAttempts: 1 });
    const handler = handleJob(late, async ({ signal }) => {
      await untilAborted(signal).catch(() => undefined);
      return 'too late';
    });
    await whileServing(storage, queue, [handler], async () => {
      const { id } = await new JobClient(storage).enqueue(late, {});
      expect((await jobInState(storage, id, 'failed')).error?.name).to.equal('JobTimeoutError');
    });
  });

  it('continue without a handler that ignores its timeout, and discard its late result', async () => {
    const queue = 'work';
    const deaf = defineJob({ name: 'deaf', queue, timeoutMs: 10, maxAttempts: 1 });
    let finish = (): void => undefined;
    const handler = handleJob(deaf, async () => new Promise<void>((resolve) => (finish = resolve)));
    const warnings: string[] = [];
    const logger: Logger = { ...silentLogger, warn: (_, message) => warnings.push(message) };
    await whileServing(
      storage,
      queue,
      [handler],
      async (server) => {
        const { id } = await new JobClient(storage).enqueue(deaf, {});
        expect((await jobInState(storage, id, 'failed')).error?.name).to.equal('JobTimeoutError');
        expect(server.running).to.equal(0);
        finish();
        await new Promise((resolve) => setImmediate(resolve));
        expect((await storage.jobs.find(id))?.state).to.equal('failed');
      },
      { timeoutGraceMs: 10, logger },
    );
    expect(warnings).to.deep.equal([
      'a handler did not stop after its timeout; its job continues without it',
    ]);
  });

  it('fail an attempt whose result exceeds the size limit', async () => {
    const queue = 'work';
    const verbose = defineJob({ name: 'verbose', queue, maxAttempts: 1 });
    const options = { maxResultBytes: 100 };
    const handler = handleJob(verbose, () => 'é'.repeat(50));
    const work = async (): Promise<void> => {
      const { id } = await new JobClient(storage).enqueue(verbose, {});
      expect((await jobInState(storage, id, 'failed')).error).to.include({
        name: 'ResultTooLargeError',
        message: 'The result takes 102 bytes as JSON; the limit is 100 (maxResultBytes)',
      });
    };
    await whileServing(storage, queue, [handler], work, options);
  });
});
