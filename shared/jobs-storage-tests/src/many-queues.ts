import { expect } from 'chai';
import { before, it } from 'mocha';
import { type JobListQuery, newId, type NewJob } from '@longshore/jobs/storage';
import { type Fixture, newJob } from './storage-under-test.js';

/** Defines the tests of lists that span many queues. A storage should not read a full page from each queue. */
export function readingManyQueues(fixture: Fixture): void {
  const queues = Array.from({ length: 30 }, () => fixture.newQueue());
  const start = Date.now();
  /** Jobs spread over the queues. The first ten and the last ten share one queue. Every tenth job is named `tenth`. */
  const jobs: NewJob[] = Array.from({ length: 90 }, (_each, index) => ({
    ...newJob(queues[index < 10 || index >= 80 ? 3 : (index * 7) % 30] ?? ''),
    id: newId(start + index),
    name: index % 10 === 0 ? 'tenth' : 'other',
  }));
  const ids = jobs.map(({ id }) => id);
  before(() => fixture.storage.enqueuer.enqueue(jobs));
  const filter = { queue: queues, state: ['enqueued'] } as const;
  const list = async (query: Omit<JobListQuery, 'limit'>): Promise<string[]> =>
    (await fixture.storage.jobs.list({ filter, limit: 8, ...query })).map(({ id }) => id);

  it('lists the newest and the oldest jobs', async () => {
    expect(await list({})).to.deep.equal(ids.slice(-8).toReversed());
    expect(await list({ order: 'oldest' })).to.deep.equal(ids.slice(0, 8));
  });

  it('lists several pages of the newest and of the oldest jobs', async () => {
    const page = { filter, offset: 5, limit: 60 };
    const newest = await fixture.storage.jobs.list(page);
    expect(newest.map(({ id }) => id)).to.deep.equal(ids.slice(25, 85).toReversed());
    const oldest = await fixture.storage.jobs.list({ ...page, order: 'oldest' });
    expect(oldest.map(({ id }) => id)).to.deep.equal(ids.slice(5, 65));
  });

  it('continues after a job', async () => {
    expect(await list({ after: ids[40] ?? '' })).to.deep.equal(ids.slice(32, 40).toReversed());
    expect(await list({ after: ids[40] ?? '', order: 'oldest' })).to.deep.equal(ids.slice(41, 49));
  });

  it('lists and counts jobs by name or by word', async () => {
    const tenth = [80, 70, 60, 50, 40, 30, 20, 10].map((place) => ids[place]);
    expect(await list({ filter: { ...filter, name: ['tenth'] } })).to.deep.equal(tenth);
    expect(await list({ filter: { ...filter, q: 'tenth' } })).to.deep.equal(tenth);
    expect(await fixture.storage.jobs.count({ ...filter, name: ['tenth'] })).to.include({ count: 9 });
    expect(await fixture.storage.jobs.count({ ...filter, q: 'tenth' })).to.include({ count: 9 });
  });

  it('counts the jobs created after a time', async () => {
    const createdAfter = new Date(start + 30);
    expect(await fixture.storage.jobs.count({ ...filter, createdAfter })).to.include({ count: 60 });
  });
}
