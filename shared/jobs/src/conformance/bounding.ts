import { expect } from 'chai';
import { it } from 'mocha';
import { JobClient } from '../client/job-client.js';
import { defineJob } from '../job/definition.js';
import { handleJob } from '../server/handler.js';
import { type Logger, silentLogger } from '../server/logger.js';
import { jobInState, whileServing } from './serving-bench.js';
import type { Bench } from './storage-under-test.js';

const untilAborted = async (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });

/** What a job may take: errors, time, bytes. */
export function bounding(bench: Bench): void {
  it('fails a job at once whose error is one to give up on', async () => {
    const queue = bench.newQueue();
    const hopeless = defineJob({ name: 'hopeless', queue, giveUpOn: [RangeError] });
    const handler = handleJob(hopeless, () => {
      throw new RangeError('never');
    });
    await whileServing(bench, queue, [handler], async () => {
      const { id } = await new JobClient(bench.storage).enqueue(hopeless, {});
      expect(await jobInState(bench, id, 'failed')).to.include({ attempt: 1, maxAttempts: 10 });
    });
  });

  it('ends an attempt that takes longer than its definition allows with a JobTimeoutError, and tries again', async () => {
    const queue = bench.newQueue();
    const slow = defineJob({ name: 'slow', queue, timeoutMs: 20, retryDelay: [1] });
    const handler = handleJob(slow, async ({ job, signal }) =>
      job.attempt === 1 ? untilAborted(signal) : 'in time',
    );
    await whileServing(bench, queue, [handler], async () => {
      const { id } = await new JobClient(bench.storage).enqueue(slow, {});
      expect((await jobInState(bench, id, 'done')).result).to.equal('in time');
      const attempts = await bench.storage.jobs.listAttempts(id);
      expect(attempts?.map(({ error }) => error?.name)).to.deep.equal(['JobTimeoutError', undefined]);
    });
  });

  it('allows an attempt the time that its enqueuer gave, before that of its definition', async () => {
    const queue = bench.newQueue();
    const slow = defineJob({ name: 'slow', queue, timeoutMs: 60_000, maxAttempts: 1 });
    const handler = handleJob(slow, async ({ signal }) => untilAborted(signal));
    await whileServing(bench, queue, [handler], async () => {
      const { id } = await new JobClient(bench.storage).enqueue(slow, {}, { timeoutMs: 10 });
      expect((await jobInState(bench, id, 'failed')).error?.message).to.contain('10 ms');
    });
  });

  it('fails an attempt whose handler returns after its time is up', async () => {
    const queue = bench.newQueue();
    const late = defineJob({ name: 'late', queue, timeoutMs: 10, maxAttempts: 1 });
    const handler = handleJob(late, async ({ signal }) => {
      await untilAborted(signal).catch(() => undefined);
      return 'too late';
    });
    await whileServing(bench, queue, [handler], async () => {
      const { id } = await new JobClient(bench.storage).enqueue(late, {});
      expect((await jobInState(bench, id, 'failed')).error?.name).to.equal('JobTimeoutError');
    });
  });

  it('goes on without a handler that ignores its timeout, and ignores what it returns later', async () => {
    const queue = bench.newQueue();
    const deaf = defineJob({ name: 'deaf', queue, timeoutMs: 10, maxAttempts: 1 });
    let finish = (): void => undefined;
    const handler = handleJob(deaf, async () => new Promise<void>((resolve) => (finish = resolve)));
    const warnings: string[] = [];
    const logger: Logger = { ...silentLogger, warn: (_, message) => warnings.push(message) };
    await whileServing(
      bench,
      queue,
      [handler],
      async (server) => {
        const { id } = await new JobClient(bench.storage).enqueue(deaf, {});
        expect((await jobInState(bench, id, 'failed')).error?.name).to.equal('JobTimeoutError');
        expect(server.running).to.equal(0);
        finish();
        await new Promise((resolve) => setImmediate(resolve));
        expect((await bench.storage.jobs.find(id))?.state).to.equal('failed');
      },
      { timeoutGraceMs: 10, logger },
    );
    expect(warnings).to.deep.equal(['a handler ignored its timeout; its job goes on without it']);
  });

  it('fails an attempt whose result is larger than the server allows', async () => {
    const queue = bench.newQueue();
    const verbose = defineJob({ name: 'verbose', queue, maxAttempts: 1 });
    const options = { maxResultBytes: 100 };
    const handler = handleJob(verbose, () => 'é'.repeat(50));
    const work = async (): Promise<void> => {
      const { id } = await new JobClient(bench.storage).enqueue(verbose, {});
      expect((await jobInState(bench, id, 'failed')).error).to.include({
        name: 'ResultTooLargeError',
        message: 'The result takes 102 bytes as JSON; this server allows 100 (maxResultBytes)',
      });
    };
    await whileServing(bench, queue, [handler], work, options);
  });

  it('takes jobs from all of its queues when they have weights', async () => {
    const [heavy, light] = [bench.newQueue(), bench.newQueue()];
    const task = defineJob({ name: 'task' });
    const client = new JobClient(bench.storage);
    const work = async (): Promise<void> => {
      const jobs = await Promise.all([heavy, light].map((queue) => client.enqueue(task, {}, { queue })));
      for (const { id } of jobs) await jobInState(bench, id, 'done');
    };
    const queues = { [heavy]: 6, [light]: 3 };
    await whileServing(bench, heavy, [handleJob(task, () => null)], work, { queues });
  });
}
