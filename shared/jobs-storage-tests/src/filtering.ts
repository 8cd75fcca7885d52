import { expect } from 'chai';
import { it } from 'mocha';
import type { Job } from '@longshore/jobs';
import { type JobFilter, newId } from '@longshore/jobs/storage';
import { error } from './dependent-job.js';
import { type Fixture, newJob, yearMs } from './storage-under-test.js';

/** Defines the tests of job filters. Each test uses its own queue. */
export function filtering(fixture: Fixture): void {
  const found = async (queue: string, filter: JobFilter): Promise<string[]> => {
    const jobs = await fixture.storage.jobs.list({ filter: { queue: [queue], ...filter }, limit: 100 });
    const { count } = await fixture.storage.jobs.count({ queue: [queue], ...filter });
    const near = await fixture.storage.jobs.listBrief({
      filter: { queue: [queue], ...filter },
      limit: 100,
      reach: 'near',
    });
    expect(idsOf(jobs), 'none but those is near').to.include.members(idsOf(near.jobs));
    if (near.isComplete) expect(near.jobs, 'all are near').to.have.length(jobs.length);
    const each = Object.values(await fixture.storage.jobs.countByState({ queue: [queue], ...filter }));
    expect(
      each.reduce((sum, ofState) => sum + ofState.count, 0),
      'as many in each state',
    ).to.equal(count);
    expect(count, 'as many counted as listed').to.equal(jobs.length);
    return idsOf(jobs);
  };
  const work = async (queue: string): Promise<string> => {
    const { claim } = await fixture.claimOne({ queue });
    await fixture.storage.completions.complete([{ claim, outcome: { kind: 'done', result: 'null' } }]);
    return claim.jobId;
  };

  for (const state of ['enqueued', 'scheduled', 'cancelled'] as const) {
    it(`finds ${state} jobs by any of several tags`, async () => {
      const queue = fixture.newQueue();
      const wanted: string[] = [];
      for (const [index, tags] of [['night', 'mail'], ['day'], ['noon'], undefined].entries()) {
        const { id } = await fixture.enqueue(queue, {
          id: newId(Date.now() + index),
          ...(tags && { meta: { tags } }),
          ...(state === 'scheduled' && { due: { inMs: yearMs } }),
        });
        if (state === 'cancelled') await fixture.storage.control.cancel(id);
        if (index < 2) wanted.unshift(id);
      }
      expect(await found(queue, { tag: ['mail', 'day'] })).to.deep.equal(wanted);
    });
  }

  it('matches whole tags only', async () => {
    const queue = fixture.newQueue();
    await fixture.enqueue(queue, { meta: { tags: ['nightly'] } });
    expect(await found(queue, { tag: ['night'] })).to.deep.equal([]);
  });

  it('finds the jobs of a recurring job', async () => {
    const queue = fixture.newQueue();
    const { id } = await fixture.enqueue(queue, { meta: { recurringJobId: 'report' } });
    await fixture.enqueue(queue, { meta: { recurringJobId: 'backup' } });
    expect(await found(queue, { recurringJobId: ['report'] })).to.deep.equal([id]);
  });

  it('by concurrency key', async () => {
    const queue = fixture.newQueue();
    const { id } = await fixture.enqueue(queue, { meta: { concurrencyKey: 'a', concurrencyLimit: 1 } });
    await fixture.enqueue(queue, { meta: { concurrencyKey: 'b', concurrencyLimit: 1 } });
    expect(await found(queue, { concurrencyKey: ['a'] })).to.deep.equal([id]);
    expect(await fixture.storage.jobs.find(id)).to.include({ concurrencyKey: 'a' });
  });

  it('finds the jobs of a batch, regardless of the case of its id', async () => {
    const queue = fixture.newQueue();
    const batchId = newId();
    const job = { ...newJob(queue), meta: { batchId } };
    await fixture.storage.enqueuer.enqueueBatch({ id: batchId, name: null, jobs: [job], callback: null });
    await fixture.enqueue(queue);
    expect(await found(queue, { batchId: [batchId.toUpperCase()] })).to.deep.equal([job.id]);
  });

  it('finds the dependents of a job, including those with several parents', async () => {
    const queue = fixture.newQueue();
    const [first, second] = [await fixture.enqueue(queue), await fixture.enqueue(queue)];
    const parents = [first.id, second.id];
    const { id } = await fixture.enqueue(queue, {
      after: { parents, when: 'onAny' },
      meta: { parentIds: parents },
    });
    expect(await found(queue, { parentId: [second.id.toUpperCase()] })).to.deep.equal([id]);
  });

  it('finds the jobs that a job enqueued, regardless of the case of its id', async () => {
    const queue = fixture.newQueue();
    const enqueuedBy = newId();
    const { id } = await fixture.enqueue(queue, { meta: { enqueuedBy } });
    await fixture.enqueue(queue, { meta: { enqueuedBy: newId() } });
    await fixture.enqueue(queue);
    expect(await found(queue, { enqueuedBy: [enqueuedBy.toUpperCase()] })).to.deep.equal([id]);
  });

  it('finds the jobs that a server is running or ran last', async () => {
    const queue = fixture.newQueue();
    const done = await work(queue);
    const { claim } = await fixture.claimOne({ queue, id: newId(Date.now() + 1) });
    await fixture.enqueue(queue);
    const doneBy = (await fixture.storage.jobs.find(done))?.serverId ?? '';
    expect(await found(queue, { serverId: [claim.serverId] })).to.deep.equal([claim.jobId]);
    expect(await found(queue, { serverId: [doneBy, claim.serverId] })).to.deep.equal([claim.jobId, done]);
  });

  it('finds nothing by a malformed id', async () => {
    const queue = fixture.newQueue();
    await work(queue);
    for (const member of ['serverId', 'parentId', 'batchId', 'enqueuedBy']) {
      expect(await found(queue, { [member]: ['nobody'] }), member).to.deep.equal([]);
    }
  });

  it('finds jobs created at or after one time and before another', async () => {
    const queue = fixture.newQueue();
    const start = Date.now();
    const ids = [0, 1, 2].map((offset) => newId(start + offset * 1_000));
    for (const id of ids) await fixture.enqueue(queue, { id });
    const at = (offset: number): Date => new Date(start + offset * 1_000);
    expect(await found(queue, { createdAfter: at(1) })).to.deep.equal([ids[2], ids[1]]);
    expect(await found(queue, { createdBefore: at(1) })).to.deep.equal([ids[0]]);
    expect(await found(queue, { createdAfter: at(1), createdBefore: at(2) })).to.deep.equal([ids[1]]);
  });

  it('finds jobs finished at or after one time and before another, and no unfinished ones', async () => {
    const queue = fixture.newQueue();
    const id = await work(queue);
    await fixture.enqueue(queue);
    const finishedAt = (await fixture.storage.jobs.find(id))?.finishedAt?.getTime() ?? 0;
    const [earlier, later] = [new Date(finishedAt - 1_000), new Date(finishedAt + 1_000)];
    expect(await found(queue, { finishedAfter: earlier })).to.deep.equal([id]);
    expect(await found(queue, { finishedBefore: later })).to.deep.equal([id]);
    expect(await found(queue, { finishedAfter: later })).to.deep.equal([]);
    expect(await found(queue, { finishedBefore: earlier })).to.deep.equal([]);
  });

  it('finds jobs by the value at a path in their arguments', async () => {
    const queue = fixture.newQueue();
    const { id } = await fixture.enqueue(queue, { args: '{"customer":{"id":7},"items":["a","b"]}' });
    await fixture.enqueue(queue, { args: '{"customer":{"id":"7"},"items":["b"]}' });
    expect(
      await found(queue, { args: [{ path: ['customer', 'id'], values: [7, 8] }] }),
      'number',
    ).to.deep.equal([id]);
    expect(await found(queue, { args: [{ path: ['items', '1'], values: ['b'] }] }), 'element').to.deep.equal([
      id,
    ]);
    expect(
      await found(queue, { args: [{ path: ['customer'], values: [{ id: 7 }] }] }),
      'object',
    ).to.deep.equal([id]);
    expect(
      await found(queue, { args: [{ path: ['customer', 'none'], values: [7] }] }),
      'no such',
    ).to.deep.equal([]);
  });

  it('compares numbers in arguments by value, to the last digit', async () => {
    const queue = fixture.newQueue();
    const { id } = await fixture.enqueue(queue, { args: '{"big":9007199254740992,"one":1.0}' });
    await fixture.enqueue(queue, { args: '{"big":9007199254740993,"one":1.00000000000000000001}' });
    expect(await found(queue, { args: [{ path: ['big'], values: [2 ** 53] }] })).to.deep.equal([id]);
    expect(await found(queue, { args: [{ path: ['one'], values: [1] }] })).to.deep.equal([id]);
  });

  it('finds only jobs that match every member', async () => {
    const queue = fixture.newQueue();
    const { id } = await fixture.enqueue(queue, { name: 'mail', meta: { tags: ['night'] } });
    await fixture.enqueue(queue, { name: 'mail' });
    await fixture.enqueue(queue, { meta: { tags: ['night'] } });
    expect(await found(queue, { name: ['mail'], tag: ['night'] })).to.deep.equal([id]);
  });

  it('treats an empty member as absent', async () => {
    const queue = fixture.newQueue();
    const { id } = await fixture.enqueue(queue);
    expect(await found(queue, { name: [], tag: [], serverId: [], args: [] })).to.deep.equal([id]);
  });

  it('continues after a job within the matches', async () => {
    const queue = fixture.newQueue();
    const ids = [0, 1, 2].map((offset) => newId(Date.now() + offset));
    for (const id of ids) {
      await fixture.enqueue(queue, { id, meta: { tags: ['page'] } });
      await fixture.storage.control.cancel(id);
    }
    const page = { filter: { queue: [queue], tag: ['page'] }, limit: 1, after: ids[2] ?? '' };
    expect((await fixture.storage.jobs.list(page)).map((job) => job.id)).to.deep.equal([ids[1]]);
  });

  it('finds failed jobs by tag', async () => {
    const { queue, claim } = await fixture.claimOne({ meta: { tags: ['night'] } });
    await fixture.storage.completions.complete([{ claim, outcome: { kind: 'failed', error } }]);
    expect(await found(queue, { state: ['failed'], tag: ['night'] })).to.deep.equal([claim.jobId]);
  });

  it('supports every combination of two filters', async () => {
    const queue = fixture.newQueue();
    const { id } = await fixture.enqueue(queue);
    const at = new Date(Date.UTC(2020, 0, 1));
    const filters: readonly JobFilter[] = [
      { q: 'work' },
      { id: [id] },
      { name: ['work'] },
      { state: ['enqueued', 'done'] },
      { tag: ['red'] },
      { createdAfter: at },
      { createdBefore: at },
      { finishedAfter: at },
      { finishedBefore: at },
      { serverId: [id] },
      { batchId: [id] },
      { parentId: [id] },
      { enqueuedBy: [id] },
      { recurringJobId: ['nightly'] },
      { error: ['boom'] },
      { errorFingerprint: ['Error: boom'] },
      { args: [{ path: ['n'], values: [1] }] },
    ];
    for (const [index, one] of filters.entries()) {
      for (const other of filters.slice(index)) {
        const filter = { queue: [queue], ...one, ...other };
        const [near, jobs, { count }] = await Promise.all([
          fixture.storage.jobs.listBrief({ filter, limit: 10, reach: 'near' }),
          fixture.storage.jobs.list({ filter, limit: 10 }),
          fixture.storage.jobs.count(filter),
        ]);
        expect(count, JSON.stringify(filter)).to.equal(jobs.length);
        expect(near.jobs.length, JSON.stringify(filter)).to.be.at.most(jobs.length);
      }
    }
  });
}

function idsOf(jobs: readonly Job[]): string[] {
  return jobs.map(({ id }) => id);
}
