import { expect } from 'chai';
import Type from 'typebox';
import { defineJob, JobClient, MemoryStorage } from '../src/index.js';
import type { NewJob } from '../src/storage/index.js';

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
      jobs.push(...given);
      return enqueue(given);
    };
    client = new JobClient(storage);
  });

  it('comes from the arguments by the rule of the definition', async () => {
    await client.enqueue(perTenant, { tenant: 'acme' });
    expect(jobs[0]?.meta).to.deep.equal({ concurrencyKey: 'acme', concurrencyLimit: 2 });
  });

  it('is left out where the rule gives none', async () => {
    await client.enqueue(perTenant, { tenant: 'free' });
    expect(jobs[0]?.meta).to.equal(null);
  });

  it('may be another in the options, or none', async () => {
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
    it(`is refused as ${JSON.stringify(concurrency).slice(0, 40)}`, async () => {
      const refused = await client
        .enqueue(perTenant, { tenant: 'acme' }, { concurrency })
        .catch((error: unknown) => error);
      expect(refused).to.be.instanceOf(RangeError);
    });
  }

  it('is refused at its definition with a limit out of bounds', () => {
    expect(() => defineJob({ name: 'x', concurrency: { key: 'k', limit: 0 } })).to.throw(RangeError);
  });
});
