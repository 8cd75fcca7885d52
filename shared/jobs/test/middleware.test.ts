import { expect } from 'chai';
import { defineJob, handleJob, JobClient, type EnqueueRequest, MemoryStorage } from '../src/index.js';
import { jobInState, whileServing } from './support/serving.js';

const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

describe('Middleware', () => {
  let storage: MemoryStorage;

  beforeEach(() => {
    storage = new MemoryStorage();
  });

  it('changes what is enqueued, one job or many', async () => {
    const definition = defineJob({ name: 'moved', queue: 'work' });
    const queue = 'other';
    const client = new JobClient(storage, {
      middleware: [
        async (context, next) => {
          context.requests = context.requests.map((request) => ({
            ...request,
            options: { ...request.options, queue },
          }));
          return next();
        },
      ],
    });
    const one = await client.enqueue(definition, {});
    const [other] = await client.enqueueMany([{ definition, args: {} }]);
    expect([one.queue, other?.queue]).to.deep.equal([queue, queue]);
    expect(await storage.jobs.find(one.id)).to.include({ queue });
  });

  it('runs for the jobs and the callback of a batch', async () => {
    const definition = defineJob({ name: 'batched', queue: 'work' });
    const tagged = (request: EnqueueRequest): EnqueueRequest => ({
      ...request,
      options: { ...request.options, tags: ['seen'] },
    });
    const client = new JobClient(storage, {
      middleware: [
        async (context, next) => {
          context.requests = context.requests.map(tagged);
          context.callback = context.callback && tagged(context.callback);
          return next();
        },
      ],
    });
    const request = { definition, args: {} };
    const { jobs, callback } = await client.enqueueBatch({ jobs: [request, request], callback: request });
    const stored = await Promise.all([...jobs, callback].map((job) => storage.jobs.find(job?.id ?? '')));
    expect(stored.map((job) => job?.tags)).to.deep.equal([['seen'], ['seen'], ['seen']]);
    expect(jobs).to.have.length(2);
  });

  it('can reject a call by throwing', async () => {
    const queue = 'work';
    const veto = async (): Promise<never> => Promise.reject(new RangeError('not today'));
    const client = new JobClient(storage, { middleware: [veto] });
    const problem = await client
      .enqueue(defineJob({ name: 'vetoed', queue }), {})
      .catch((error: unknown) => error);
    expect(problem).to.be.instanceOf(RangeError);
    expect((await storage.jobs.count({ queue: [queue] })).count).to.equal(0);
  });

  it('wraps handlers, the first outermost, and sees the result', async () => {
    const queue = 'work';
    const wrapped = defineJob({ name: 'wrapped', queue });
    const seen: unknown[] = [];
    const work = async (): Promise<void> => {
      const { id } = await new JobClient(storage).enqueue(wrapped, {});
      expect((await jobInState(storage, id, 'done')).result).to.equal('result');
    };
    await whileServing(storage, queue, [handleJob(wrapped, () => 'result')], work, {
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

  it('passes the enqueuer’s traceparent to the handler', async () => {
    const queue = 'work';
    const traced = defineJob({ name: 'traced', queue });
    await whileServing(storage, queue, [handleJob(traced, ({ job }) => job.traceparent)], async () => {
      const { id } = await new JobClient(storage).enqueue(traced, {}, { traceparent });
      expect((await jobInState(storage, id, 'done')).result).to.equal(traceparent);
    });
  });

  it('rejects a malformed traceparent', async () => {
    const traced = defineJob({ name: 'traced', queue: 'work' });
    const problem = await new JobClient(storage)
      .enqueue(traced, {}, { traceparent: traceparent.toUpperCase() })
      .catch((error: unknown) => error);
    expect(problem).to.be.instanceOf(RangeError);
  });
});
