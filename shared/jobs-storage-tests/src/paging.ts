import { expect } from 'chai';
import { it } from 'mocha';
import type { JobPage, JobPageQuery } from '@longshore/jobs/storage';
import { type Bench, newJob } from './storage-under-test.js';

const kilobyte = 1_024;

/** Pages of jobs that carry much. */
export function paging(bench: Bench): void {
  /** As many jobs, the oldest first, each with arguments of so many bytes. */
  async function carrying(count: number, bytes: number): Promise<{ queue: string; ids: string[] }> {
    const queue = bench.newQueue();
    const jobs = Array.from({ length: count }, (_, index) => ({
      ...newJob(queue),
      args: JSON.stringify({ index, text: 'x'.repeat(bytes) }),
    }));
    await bench.storage.enqueuer.enqueueMany(jobs);
    return { queue, ids: jobs.map(({ id }) => id).toSorted() };
  }

  const page = (queue: string, query: Partial<JobPageQuery> = {}): Promise<JobPage> =>
    bench.storage.jobs.listPage({
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
    it(`is whole while its ${size} documents fit`, async () => {
      const { queue, ids } = await carrying(12, bytes);
      const { jobs, cut } = await page(queue);
      expect([jobs.map(({ id }) => id), cut]).to.deep.equal([ids, false]);
      expect(jobs).to.deep.equal(
        await bench.storage.jobs.list({ filter: { queue: [queue] }, order: 'oldest', limit: 100 }),
      );
    });

  it('ends before its documents exceed the bytes, and goes on after its last job', async () => {
    const { queue, ids } = await carrying(12, 100 * kilobyte);
    const maxBytes = 350 * kilobyte;
    const first = await page(queue, { maxBytes });
    expect([first.jobs.map(({ id }) => id), first.cut]).to.deep.equal([ids.slice(0, 3), true]);
    const second = await page(queue, { maxBytes, after: ids[2] ?? '' });
    expect(second.jobs.map(({ id }) => id)).to.deep.equal(ids.slice(3, 6));
  });

  it('has one job at least', async () => {
    const { queue, ids } = await carrying(2, 100 * kilobyte);
    const { jobs, cut } = await page(queue, { maxBytes: 1 });
    expect([jobs.map(({ id }) => id), cut]).to.deep.equal([ids.slice(0, 1), true]);
  });

  it('without documents has all its jobs, with neither arguments nor results', async () => {
    const { queue, ids } = await carrying(12, 100 * kilobyte);
    const { jobs, cut } = await page(queue, { documents: false, maxBytes: 1 });
    expect([jobs.map(({ id }) => id), cut]).to.deep.equal([ids, false]);
    expect(jobs.every(({ args, result }) => args === null && result === null)).to.equal(true);
  });

  it('has results that are large', async () => {
    const { claim } = await bench.claimOne();
    const result = JSON.stringify('y'.repeat(100 * kilobyte));
    await bench.storage.completions.complete([{ claim, outcome: { kind: 'done', result } }]);
    const { jobs } = await page(claim.queue);
    expect(jobs.map((job) => job.result)).to.deep.equal([JSON.parse(result)]);
  });

  it('is brief without large arguments', async () => {
    const queue = bench.newQueue();
    const short = await bench.enqueue(queue, { args: '{"n":1}' });
    // Compresses to much less than the limit.
    const long = await bench.enqueue(queue, { args: JSON.stringify({ text: 'x'.repeat(20 * kilobyte) }) });
    const longest = await bench.enqueue(queue, {
      args: JSON.stringify({ text: 'x'.repeat(900 * kilobyte) }),
    });
    for (const reach of ['near', 'history', 'all'] as const) {
      const { jobs } = await bench.storage.jobs.listBrief({
        filter: { queue: [queue] },
        order: 'oldest',
        limit: 10,
        reach,
      });
      expect(jobs.map(({ id, args, argsOmitted }) => ({ id, args, argsOmitted }))).to.deep.equal([
        { id: short.id, args: { n: 1 }, argsOmitted: false },
        { id: long.id, args: null, argsOmitted: true },
        { id: longest.id, args: null, argsOmitted: true },
      ]);
    }
  });

  it('is brief without results', async () => {
    const { queue, claim } = await bench.claimOne();
    await bench.storage.completions.complete([{ claim, outcome: { kind: 'done', result: '1' } }]);
    const { jobs } = await bench.storage.jobs.listBrief({ filter: { queue: [queue] }, limit: 10 });
    expect(jobs.map(({ state, result }) => [state, result])).to.deep.equal([['done', null]]);
  });
}
