import { expect } from 'chai';
import Type from 'typebox';
import { defineJob, JobClient, MemoryStorage } from '../src/index.js';
import { collectJobs, type NewJob } from '../src/storage.js';

const perTenant = defineJob({
  name: 'per-tenant',
  args: Type.Object({ tenant: Type.String() }),
  concurrency: { key: ({ tenant }) => (tenant === 'free' ? null : tenant), limit: 2 },
});

describe('A concurrency key', () => {
  let jobs: NewJob[];
  let client: JobClient;

  beforeEach(() => {
    jobs = [];
    const storage = new MemoryStorage();
    const enqueue = storage.enqueuer.enqueue.bind(storage.enqueuer);
    storage.enqueuer.enqueue = async (given) => {
      jobs.push(...(await collectJobs(given)));
      return enqueue(given);
    };
    client = new JobClient(storage);
  });

  it('is derived from the arguments by the definition’s rule', async () => {
    await client.enqueue(perTenant, { tenant: 'acme' });
    expect(jobs[0]?.meta).to.deep.equal({ concurrencyKey: 'acme', concurrencyLimit: 2 });
  });

  it('is absent if the rule returns null', async () => {
    await client.enqueue(perTenant, { tenant: 'free' });
    expect(jobs[0]?.meta).to.equal(null);
  });

  it('can be overridden or removed by the options', async () => {
    await client.enqueue(perTenant, { tenant: 'acme' }, { concurrency: { key: 'all', limit: 1 } });
    await client.enqueue(perTenant, { tenant: 'acme' }, { concurrency: null });
    expect(jobs.map(({ meta }) => meta)).to.deep.equal([
      { concurrencyKey: 'all', concurrencyLimit: 1 },
      null,
    ]);
  });

  for (const concurrency of [
    { key: '', limit: 1 },
    { key: 'k'.repeat(201), limit: 1 },
    { key: 'a\0b', limit: 1 },
    { key: 'k', limit: 0 },
    { key: 'k', limit: 1.5 },
    { key: 'k', limit: 10_001 },
  ]) {
    it(`is rejected as ${JSON.stringify(concurrency).slice(0, 40)}`, async () => {
      const refused = await client
        .enqueue(perTenant, { tenant: 'acme' }, { concurrency })
        .catch((error: unknown) => error);
      expect(refused).to.be.instanceOf(RangeError);
    });
  }

  it('is rejected by the definition if its limit is out of bounds', () => {
    expect(() => defineJob({ name: 'x', concurrency: { key: 'k', limit: 0 } })).to.throw(RangeError);
  });
});
