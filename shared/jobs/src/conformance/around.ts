import { expect } from 'chai';
import { it } from 'mocha';
import { JobClient } from '../client/job-client.js';
import type { JobOrder } from '../client/job-order.js';
import { defineJob } from '../job/definition.js';
import { CancelJob, SnoozeJob } from '../job/errors.js';
import type { Claim } from '../job/job.js';
import { handleJob } from '../server/handler.js';
import type { JobServer } from '../server/job-server.js';
import type { JobServerEvents } from '../server/server-events.js';
import { jobInState, whileServing } from './serving-bench.js';
import type { Bench } from './storage-under-test.js';

const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

/** Middleware, events, and the trace that a job belongs to. */
export function around(bench: Bench): void {
  it('lets middleware change what is enqueued, one job or many', async () => {
    const definition = defineJob({ name: 'moved', queue: bench.newQueue() });
    const queue = bench.newQueue();
    const client = new JobClient(bench.storage, {
      middleware: [
        async (context, next) => {
          context.orders = context.orders.map((order) => ({
            ...order,
            options: { ...order.options, queue },
          }));
          return next();
        },
      ],
    });
    const one = await client.enqueue(definition, {});
    const [other] = await client.enqueueMany([{ definition, args: {} }]);
    expect([one.queue, other?.queue]).to.deep.equal([queue, queue]);
    expect(await bench.storage.jobs.find(one.id)).to.include({ queue });
  });

  it('puts middleware around the jobs of a batch and its follow-up', async () => {
    const definition = defineJob({ name: 'batched', queue: bench.newQueue() });
    const tagged = (order: JobOrder): JobOrder => ({
      ...order,
      options: { ...order.options, tags: ['seen'] },
    });
    const client = new JobClient(bench.storage, {
      middleware: [
        async (context, next) => {
          context.orders = context.orders.map(tagged);
          context.followUp = context.followUp && tagged(context.followUp);
          return next();
        },
      ],
    });
    const order = { definition, args: {} };
    const { jobs, followUp } = await client.enqueueBatch({ jobs: [order, order], followUp: order });
    const stored = await Promise.all(
      [...jobs, followUp].map((job) => bench.storage.jobs.find(job?.id ?? '')),
    );
    expect(stored.map((job) => job?.tags)).to.deep.equal([['seen'], ['seen'], ['seen']]);
    expect(jobs).to.have.length(2);
  });

  it('enqueues nothing if a middleware throws', async () => {
    const queue = bench.newQueue();
    const veto = async (): Promise<never> => Promise.reject(new RangeError('not today'));
    const client = new JobClient(bench.storage, { middleware: [veto] });
    const problem = await client
      .enqueue(defineJob({ name: 'vetoed', queue }), {})
      .catch((error: unknown) => error);
    expect(problem).to.be.instanceOf(RangeError);
    expect((await bench.storage.jobs.count({ queue: [queue] })).count).to.equal(0);
  });

  it('puts middleware around handlers, the first outermost, which sees the result', async () => {
    const queue = bench.newQueue();
    const wrapped = defineJob({ name: 'wrapped', queue });
    const seen: unknown[] = [];
    const work = async (): Promise<void> => {
      const { id } = await new JobClient(bench.storage).enqueue(wrapped, {});
      expect((await jobInState(bench, id, 'done')).result).to.equal('result');
    };
    await whileServing(bench, queue, [handleJob(wrapped, () => 'result')], work, {
      middleware: [
        async ({ job }, next) => {
          seen.push(job.name);
          const result = await next();
          seen.push(result);
          return result;
        },
        async (_, next) => {
          seen.push('inner');
          return next();
        },
      ],
    });
    expect(seen).to.deep.equal(['wrapped', 'inner', 'result']);
  });

  it('tells its listeners what becomes of each attempt', async () => {
    const queue = bench.newQueue();
    const eventful = defineJob({ name: 'eventful', queue, retryDelay: [1], maxAttempts: 2 });
    let runs = 0;
    const handler = handleJob(eventful, () => {
      runs++;
      if (runs === 1) throw new SnoozeJob(1);
      if (runs < 4) throw new Error('no');
      if (runs === 4) throw new CancelJob('enough');
    });
    const events: string[] = [];
    const names: (keyof JobServerEvents)[] = ['snoozed', 'retrying', 'failed', 'cancelled', 'done'];
    await whileServing(bench, queue, [handler], async (server) => {
      for (const name of names) server.on(name, () => events.push(name));
      const client = new JobClient(bench.storage);
      for (const state of ['failed', 'cancelled', 'done'] as const) {
        const { id } = await client.enqueue(eventful, {});
        await jobInState(bench, id, state);
      }
    });
    expect(events).to.deep.equal(['snoozed', 'retrying', 'failed', 'cancelled', 'done']);
  });

  it('tells its listeners of the claims that it lost', async () => {
    const queue = bench.newQueue();
    const stuck = defineJob({ name: 'stuck', queue });
    let runs = 0;
    const handler = handleJob(stuck, async ({ signal }) => {
      runs++;
      if (runs === 1) await new Promise((resolve) => signal.addEventListener('abort', resolve));
    });
    const work = async (server: JobServer): Promise<void> => {
      const lost: Claim[] = [];
      server.on('lost', ({ claim }) => lost.push(claim));
      const serverId = server.id ?? '';
      const { id: jobId } = await new JobClient(bench.storage).enqueue(stuck, {});
      await jobInState(bench, jobId, 'processing');
      await bench.silence(serverId);
      await bench.storage.maintenance.rescue();
      await jobInState(bench, jobId, 'done');
      expect(lost).to.deep.equal([{ jobId, queue, serverId, attempt: 1 }]);
    };
    await whileServing(bench, queue, [handler], work, { serverTimeoutMs: 5_000 });
  });

  it('goes on if a listener throws', async () => {
    const queue = bench.newQueue();
    const calm = defineJob({ name: 'calm', queue });
    await whileServing(bench, queue, [handleJob(calm, () => null)], async (server) => {
      server.on('started', () => {
        throw new Error('a bad listener');
      });
      const { id } = await new JobClient(bench.storage).enqueue(calm, {});
      await jobInState(bench, id, 'done');
    });
  });

  it('carries the traceparent of the enqueuer to the handler', async () => {
    const queue = bench.newQueue();
    const traced = defineJob({ name: 'traced', queue });
    await whileServing(bench, queue, [handleJob(traced, ({ job }) => job.traceparent)], async () => {
      const { id } = await new JobClient(bench.storage).enqueue(traced, {}, { traceparent });
      expect((await jobInState(bench, id, 'done')).result).to.equal(traceparent);
    });
  });

  it('refuses a malformed traceparent', async () => {
    const traced = defineJob({ name: 'traced', queue: bench.newQueue() });
    const problem = await new JobClient(bench.storage)
      .enqueue(traced, {}, { traceparent: traceparent.toUpperCase() })
      .catch((error: unknown) => error);
    expect(problem).to.be.instanceOf(RangeError);
  });
}
