import { expect } from 'chai';
import { it } from 'mocha';
import type { JobPage, JobPageQuery } from '@longshore/jobs/storage';
import { type Fixture, newJob } from './storage-under-test.js';

const kilobyte = 1_024;

/** Pages of large jobs. */
export function paging(fixture: Fixture): void {
  /** Enqueues this many jobs, oldest first, each with arguments of this many bytes. */
  async function carrying(count: number, bytes: number): Promise<{ queue: string; ids: string[] }> {
    const queue = fixture.newQueue();
    const jobs = Array.from({ length: count }, (_, index) => ({
      ...newJob(queue),
      args: JSON.stringify({ index, text: 'x'.repeat(bytes) }),
    }));
    await fixture.storage.enqueuer.enqueue(jobs);
    return { queue, ids: jobs.map(({ id }) => id).toSorted() };
  }

  const page = (queue: string, query: Partial<JobPageQuery> = {}): Promise<JobPage> =>
    fixture.storage.jobs.listPage({
      filter: { queue: [queue] },
      order: 'oldest',
      limit: 100,
      maxBytes: Infinity,
      ...query,
    });

  for (const [size, bytes] of [
    ['small', 10],
    ['large', 100 * kilobyte],
  ] as const)
    it(`is complete if its ${size} documents fit`, async () => {
      const { queue, ids } = await carrying(12, bytes);
      const { jobs, cut } = await page(queue);
      expect([jobs.map(({ id }) => id), cut]).to.deep.equal([ids, false]);
      expect(jobs).to.deep.equal(
        await fixture.storage.jobs.list({ filter: { queue: [queue] }, order: 'oldest', limit: 100 }),
      );
    });

  it('ends before its documents exceed the limit, and the next one continues after its last job', async () => {
    const { queue, ids } = await carrying(12, 100 * kilobyte);
    const maxBytes = 350 * kilobyte;
    const first = await page(queue, { maxBytes });
    expect([first.jobs.map(({ id }) => id), first.cut]).to.deep.equal([ids.slice(0, 3), true]);
    const second = await page(queue, { maxBytes, after: ids[2] ?? '' });
    expect(second.jobs.map(({ id }) => id)).to.deep.equal(ids.slice(3, 6));
  });

  it('has at least one job', async () => {
    const { queue, ids } = await carrying(2, 100 * kilobyte);
    const { jobs, cut } = await page(queue, { maxBytes: 1 });
    expect([jobs.map(({ id }) => id), cut]).to.deep.equal([ids.slice(0, 1), true]);
  });

  it('has all its jobs if arguments and results are left out', async () => {
    const { queue, ids } = await carrying(12, 100 * kilobyte);
    const { jobs, cut } = await page(queue, { documents: false, maxBytes: 1 });
    expect([jobs.map(({ id }) => id), cut]).to.deep.equal([ids, false]);
    expect(jobs.every(({ args, result }) => args === null && result === null)).to.equal(true);
  });

  it('includes large results', async () => {
    const { claim } = await fixture.claimOne();
    const result = JSON.stringify('y'.repeat(100 * kilobyte));
    await fixture.storage.completions.complete([{ claim, outcome: { kind: 'done', result } }]);
    const { jobs } = await page(claim.queue);
    expect(jobs.map((job) => job.result)).to.deep.equal([JSON.parse(result)]);
  });
}
