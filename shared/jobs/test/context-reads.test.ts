import { expect } from 'chai';
import { defineJob, handleJob, JobClient, type JobHandler, MemoryStorage } from '../src/index.js';
import { jobInState, whileServing } from './support/serving.js';

const first = defineJob({ name: 'first', retryDelay: [1] });
const second = defineJob({ name: 'second', retryDelay: [1] });
const callback = defineJob({ name: 'callback' });

describe('What a handler can read', () => {
  let storage: MemoryStorage;
  let client: JobClient;
  let reads: string[];

  beforeEach(() => {
    storage = new MemoryStorage();
    client = new JobClient(storage);
    reads = [];
    const { jobs, batches } = storage;
    const noting =
      <Given extends unknown[], Answer>(name: string, read: (...given: Given) => Answer) =>
      (...given: Given): Answer => {
        reads.push(name);
        return read(...given);
      };
    jobs.findMany = noting('jobs', jobs.findMany.bind(jobs));
    jobs.listPage = noting('page', jobs.listPage.bind(jobs));
    jobs.listAttempts = noting('attempts', jobs.listAttempts.bind(jobs));
    batches.findMany = noting('batches', batches.findMany.bind(batches));
  });

  /** Runs `second` after `first` with these handlers. Resolves to what they have read. */
  async function readsOf(...handlers: JobHandler[]): Promise<string[]> {
    return whileServing(storage, 'default', handlers, async () => {
      const parent = await client.enqueue(first);
      const { id } = await client.enqueue(second, {}, { after: { parents: [parent.id] } });
      await jobInState(storage, id, 'done');
      return reads;
    });
  }

  const done = handleJob(first, () => null);

  it('is not read unless it asks', async () => {
    const handler = handleJob(second, ({ args, job }) => [args, job.attempt]);
    expect(await readsOf(done, handler)).to.deep.equal([]);
  });

  it('is not read by merely having the functions', async () => {
    const handler = handleJob(second, ({ parents, batch, earlierErrors }) =>
      [parents, batch, earlierErrors].map((read) => typeof read),
    );
    expect(await readsOf(done, handler)).to.deep.equal([]);
  });

  it('takes one read for all parents', async () => {
    const handler = handleJob(second, async ({ parents }) => (await parents()).length);
    expect(await readsOf(done, handler)).to.deep.equal(['jobs']);
  });

  it('takes no read for the earlier errors of a first attempt, and one later', async () => {
    const handler = handleJob(second, async ({ job, earlierErrors }) => {
      await earlierErrors();
      if (job.attempt === 1) throw new Error('again');
    });
    expect(await readsOf(done, handler)).to.deep.equal(['attempts']);
  });

  it('takes one read for a batch, and one for each page of its jobs', async () => {
    const handlers = [
      done,
      handleJob(callback, async ({ batch }) => {
        const found = await batch();
        let results = 0;
        for await (const _ of found?.results() ?? []) results++;
        return results;
      }),
    ];
    const jobs = Array.from({ length: 150 }, () => ({ definition: first }));
    const { callback: called } = await client.enqueueBatch({ jobs, callback: { definition: callback } });
    await whileServing(storage, 'default', handlers, async () => {
      expect(await jobInState(storage, called?.id ?? '', 'done')).to.include({ result: 150 });
    });
    expect(reads).to.deep.equal(['batches', 'page', 'page']);
  });

  it('ends with the loop that reads the jobs of a batch', async () => {
    const handler = handleJob(callback, async ({ batch }) => {
      for await (const result of (await batch())?.results() ?? []) return result;
      return 'none';
    });
    const jobs = Array.from({ length: 150 }, () => ({ definition: first }));
    const { callback: called } = await client.enqueueBatch({ jobs, callback: { definition: callback } });
    await whileServing(storage, 'default', [done, handler], () =>
      jobInState(storage, called?.id ?? '', 'done'),
    );
    expect(reads).to.deep.equal(['batches', 'page']);
  });
});
