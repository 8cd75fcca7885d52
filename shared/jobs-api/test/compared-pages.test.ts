import { defineJob, defineRecurringJob, MemoryStorage } from '@longshore/jobs';
import { maxListedRecurring } from '@longshore/jobs/storage';
import { expect } from 'chai';
import { comparedPage, maxCompared } from '../src/seek.js';

describe('A page in an order that the storage does not have', () => {
  const query = {
    filters: [],
    search: undefined,
    searchFields: [],
    byRelevance: false,
    sort: [{ field: 'size', direction: 'desc' }],
    limit: 2,
    offset: 0,
    seek: undefined,
    fields: undefined,
    count: 'default',
  } as const;
  const sizes = Array.from({ length: maxCompared + 5 }, (_, index) => ({ id: String(index), size: index }));
  const pageAmong = (stored: typeof sizes): ReturnType<typeof comparedPage> =>
    comparedPage(
      query,
      async ({ limit }) => stored.slice(0, limit),
      (each) => each,
    );

  it('is complete if there are few items', async () => {
    const page = await pageAmong(sizes.slice(0, 3));
    expect(page.items).to.deep.equal([sizes[2], sizes[1]]);
    expect(page.partial).to.not.equal(true);
  });

  it('compares a limited number of items, and says so', async () => {
    const page = await pageAmong(sizes);
    expect(page.items[0]).to.deep.equal(sizes[maxCompared - 1]);
    expect(page).to.include({ partial: true, estimated: true });
  });
});

describe('A list of recurring jobs without a limit', () => {
  it('has a maximum length', async () => {
    const { recurring } = new MemoryStorage();
    const definition = defineJob({ name: 'report' });
    for (let index = 0; index <= maxListedRecurring; index++)
      await recurring.add(defineRecurringJob({ id: `${index}`, definition, cron: '0 0 1 1 *', args: {} }));
    expect(await recurring.list()).to.have.length(maxListedRecurring);
    expect(await recurring.count()).to.equal(maxListedRecurring + 1);
  });
});
