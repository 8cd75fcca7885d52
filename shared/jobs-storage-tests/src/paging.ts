import { expect } from 'chai';
import { it } from 'mocha';
import type { JobPage, JobPageQuery } from '@longshore/jobs/storage';
import { type Fixture, newJob } from './storage-under-test.js';

const kilobyte = 1_024;

/** Defines the tests of reading jobs with large arguments page by page. */
export function paging(fixture: Fixture): void {
  /**
   * Enqueues `count` jobs, each with arguments of about `bytes` bytes. Resolves to their queue and ids, oldest first.
   */
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

  it('is brief without large arguments', async () => {
    const queue = fixture.newQueue();
    const short = await fixture.enqueue(queue, { args: '{"n":1}' });
    // The JSON text exceeds the limit, although its compressed size is far below the limit.
    const long = await fixture.enqueue(queue, { args: JSON.stringify({ text: 'x'.repeat(20 * kilobyte) }) });
    const longest = await fixture.enqueue(queue, {
      args: JSON.stringify({ text: 'x'.repeat(900 * kilobyte) }),
    });
    for (const reach of ['near', 'history', 'all'] as const) {
      const { jobs } = await fixture.storage.jobs.listBrief({
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

  it('is brief with the latest failure, also of jobs that wait for a retry or succeeded since', async () => {
    const { queue, claim } = await fixture.claimOne();
    const { jobs, completions } = fixture.storage;
    const failedOn = async (): Promise<string | undefined> => {
      const list = await jobs.listBrief({ filter: { queue: [queue] }, limit: 1 });
      return list.jobs[0]?.lastFailure?.serverId;
    };
    expect(await failedOn()).to.equal(undefined);
    const error = { name: 'Error', message: 'declined', stack: null };
    await completions.complete([{ claim, outcome: { kind: 'retry', error, delayMs: 0 } }]);
    expect(await failedOn()).to.equal(claim.serverId);
    await fixture.untilPromoted(claim.jobId);
    const { id: other } = await fixture.register(queue);
    const [again] = await fixture.claimSome(other, queue);
    await completions.complete([{ claim: again.claim, outcome: { kind: 'done', result: '1' } }]);
    expect(await failedOn()).to.equal(claim.serverId);
  });

  it('is brief without results', async () => {
    const { queue, claim } = await fixture.claimOne();
    await fixture.storage.completions.complete([{ claim, outcome: { kind: 'done', result: '1' } }]);
    const { jobs } = await fixture.storage.jobs.listBrief({ filter: { queue: [queue] }, limit: 10 });
    expect(jobs.map(({ state, result }) => [state, result])).to.deep.equal([['done', null]]);
  });
}
