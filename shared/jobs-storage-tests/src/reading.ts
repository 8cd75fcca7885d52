import { expect } from 'chai';
import { describe, it } from 'mocha';
import { newId, type NewJob } from '@longshore/jobs/storage';
import { readingManyQueues } from './many-queues.js';
import { type Fixture, hourMs, newJob, yearMs } from './storage-under-test.js';

export function reading(fixture: Fixture): void {
  /** Creates four jobs whose states are, oldest first: done, processing, enqueued, scheduled. */
  async function fourStates(): Promise<{ queue: string; ids: string[] }> {
    const queue = fixture.newQueue();
    const start = Date.now();
    const jobs: NewJob[] = [0, 1, 2, 3].map((offset) => ({ ...newJob(queue), id: newId(start + offset) }));
    const server = await fixture.register(queue);
    await fixture.storage.enqueuer.enqueue(
      jobs.map((job, index) => (index === 3 ? { ...job, due: { inMs: yearMs } } : job)),
    );
    const [first] = await fixture.claim(server.id, queue, 2);
    if (first === undefined) throw new Error('There was nothing to claim');
    await fixture.storage.completions.complete([
      { claim: first.claim, outcome: { kind: 'done', result: 'null' } },
    ]);
    return { queue, ids: jobs.map(({ id }) => id) };
  }

  describe('of thirty queues', () => {
    readingManyQueues(fixture);
  });

  it('finds no job by an unknown or malformed id', async () => {
    expect(await fixture.storage.jobs.find(newId())).to.equal(null);
    expect(await fixture.storage.jobs.find("1'; drop table job; --")).to.equal(null);
  });

  it('finds several jobs in any state, without arguments and results', async () => {
    const { ids } = await fourStates();
    const jobs = await fixture.storage.jobs.findMany([...ids, newId(), 'none']);
    expect(jobs.map(({ id }) => id).toSorted()).to.deep.equal(ids.toSorted());
    expect(jobs.every(({ args, result }) => args === null && result === null)).to.equal(true);
  });

  it('finds several jobs with their results, on request', async () => {
    const { claim } = await fixture.claimOne();
    await fixture.storage.completions.complete([{ claim, outcome: { kind: 'done', result: '{"boxes":3}' } }]);
    const [job] = await fixture.storage.jobs.findMany([claim.jobId], { results: true });
    expect(job).to.deep.include({ state: 'done', args: null, result: { boxes: 3 } });
  });

  it('returns arguments and result as text, with more digits than JavaScript numbers have', async () => {
    const queue = fixture.newQueue();
    const job = { ...newJob(queue), args: '{"id": 900719925474099312345, "rate": 1.10}' };
    await fixture.storage.enqueuer.enqueue([job]);
    const server = await fixture.register(queue);
    const waiting = await fixture.storage.jobs.findDocuments(job.id);
    expect(waiting).to.deep.equal({ args: job.args, result: 'null' });
    const [claimed] = await fixture.claim(server.id, queue, 1);
    if (claimed === undefined) throw new Error('There was nothing to claim');
    const outcome = { kind: 'done', result: '18446744073709551617' } as const;
    await fixture.storage.completions.complete([{ claim: claimed.claim, outcome }]);
    expect(await fixture.storage.jobs.findDocuments(job.id)).to.include({ result: outcome.result });
  });

  it('returns no text of an unknown job', async () => {
    expect(await fixture.storage.jobs.findDocuments(newId())).to.equal(null);
    expect(await fixture.storage.jobs.findDocuments('none')).to.equal(null);
  });

  it('lists jobs of every state, newest first', async () => {
    const { queue, ids } = await fourStates();
    const jobs = await fixture.storage.jobs.list({ filter: { queue: [queue] }, limit: 10 });
    expect(jobs.map(({ id }) => id)).to.deep.equal(ids.toReversed());
    expect(jobs.map(({ state }) => state)).to.deep.equal(['scheduled', 'enqueued', 'processing', 'done']);
  });

  it('lists oldest first on request', async () => {
    const { queue, ids } = await fourStates();
    const jobs = await fixture.storage.jobs.list({ filter: { queue: [queue] }, order: 'oldest', limit: 10 });
    expect(jobs.map(({ id }) => id)).to.deep.equal(ids);
  });

  for (const [state, place] of Object.entries({ done: 0, processing: 1, enqueued: 2, scheduled: 3 })) {
    it(`lists only ${state} jobs on request`, async () => {
      const { queue, ids } = await fourStates();
      const jobs = await fixture.storage.jobs.list({
        filter: { queue: [queue], state: [state as 'done'] },
        limit: 10,
      });
      expect(jobs.map(({ id }) => id)).to.deep.equal([ids[place]]);
    });
  }

  it('lists only jobs of the requested names', async () => {
    const queue = fixture.newQueue();
    const { id } = await fixture.enqueue(queue, { name: 'rare' });
    await fixture.enqueue(queue);
    const jobs = await fixture.storage.jobs.list({ filter: { queue: [queue], name: ['rare'] }, limit: 10 });
    expect(jobs.map((job) => job.id)).to.deep.equal([id]);
  });

  it('lists nothing of a queue that does not exist', async () => {
    expect(await fixture.storage.jobs.list({ filter: { queue: ['nowhere'] }, limit: 10 })).to.deep.equal([]);
  });

  it('skips the offset and stops at the limit', async () => {
    const { queue, ids } = await fourStates();
    const jobs = await fixture.storage.jobs.list({ filter: { queue: [queue] }, limit: 2, offset: 1 });
    expect(jobs.map(({ id }) => id)).to.deep.equal([ids[2], ids[1]]);
  });

  it('continues after the last job of a page', async () => {
    const { queue, ids } = await fourStates();
    const after = ids[2] ?? '';
    const jobs = await fixture.storage.jobs.list({ filter: { queue: [queue] }, limit: 10, after });
    expect(jobs.map(({ id }) => id)).to.deep.equal([ids[1], ids[0]]);
  });

  it('counts the jobs of a queue by state', async () => {
    const { queue } = await fourStates();
    const found = (await fixture.storage.queues.list()).find(({ name }) => name === queue);
    expect(found?.counts).to.include({ scheduled: 1, enqueued: 1, processing: 1, done: 1, failed: 0 });
  });

  it('returns the same counts after housekeeping', async () => {
    const { queue } = await fourStates();
    const before = await fixture.storage.jobs.count({ queue: [queue], state: ['done', 'enqueued'] });
    await fixture.storage.maintenance.maintain();
    expect(await fixture.storage.jobs.count({ queue: [queue], state: ['done', 'enqueued'] })).to.deep.equal(
      before,
    );
    expect(before).to.deep.equal({ count: 2, exact: true });
  });

  it('counts the jobs of one name', async () => {
    const queue = fixture.newQueue();
    await fixture.enqueue(queue, { name: 'counted' });
    await fixture.enqueue(queue);
    expect(await fixture.storage.jobs.count({ queue: [queue], name: ['counted'] })).to.deep.equal({
      count: 1,
      exact: true,
    });
  });

  it('shows when the longest-waiting job of a queue became ready, even behind more urgent ones', async () => {
    const queue = fixture.newQueue();
    const { id } = await fixture.enqueue(queue, { priority: 9 });
    const starved = await fixture.storage.jobs.find(id);
    await fixture.untilAfter(starved?.readyAt);
    await fixture.enqueue(queue, { priority: -1 });
    await fixture.enqueue(queue, { priority: 3 });
    const found = await fixture.storage.queues.find(queue);
    expect(found?.oldestEnqueuedAt?.getTime()).to.equal(starved?.readyAt?.getTime());
  });

  it('shows when a ready job became ready while one of the same age is running', async () => {
    const queue = fixture.newQueue();
    await fixture.enqueue(queue, { priority: 9 });
    const { id } = await fixture.register(queue);
    await fixture.claim(id, queue);
    expect((await fixture.storage.queues.find(queue))?.oldestEnqueuedAt).to.equal(null);
    const second = await fixture.enqueue(queue, { priority: 9 });
    const waiting = await fixture.storage.jobs.find(second.id);
    expect((await fixture.storage.queues.find(queue))?.oldestEnqueuedAt?.getTime()).to.equal(
      waiting?.readyAt?.getTime(),
    );
  });

  it('shows how long the first job of a queue has been waiting', async () => {
    const queue = fixture.newQueue();
    const { id } = await fixture.enqueue(queue);
    await fixture.enqueue(queue);
    const oldest = await fixture.storage.jobs.find(id);
    const found = (await fixture.storage.queues.list()).find(({ name }) => name === queue);
    expect(found?.oldestEnqueuedAt?.getTime()).to.equal(oldest?.readyAt?.getTime());
  });

  it('shows when a job became ready, while it is', async () => {
    const queue = fixture.newQueue();
    const { id } = await fixture.enqueue(queue);
    const ready = await fixture.storage.jobs.find(id);
    expect(ready?.readyAt?.getTime()).to.equal(ready?.createdAt.getTime());
    const server = await fixture.register(queue);
    await fixture.claim(server.id, queue, 1);
    expect((await fixture.storage.jobs.find(id))?.readyAt).to.equal(null);
  });

  it('lists running servers with their details, and the number of consumers of a queue', async () => {
    const queue = fixture.newQueue();
    const { id } = await fixture.register(queue);
    const server = (await fixture.storage.servers.list()).find((candidate) => candidate.id === id);
    expect(server).to.include({ host: 'conformance', pid: process.pid, concurrency: 5, timeoutMs: hourMs });
    expect(server?.queues).to.deep.equal([queue]);
    expect((await fixture.storage.queues.list()).find(({ name }) => name === queue)?.servers).to.equal(1);
  });

  it('lists no attempts of a job that has not started', async () => {
    const { id } = await fixture.enqueue(fixture.newQueue());
    expect(await fixture.storage.jobs.listAttempts(id)).to.deep.equal([]);
  });

  it('lists the running attempt', async () => {
    const { claim } = await fixture.claimOne();
    const [attempt] = await fixture.storage.jobs.listAttempts(claim.jobId);
    expect(attempt).to.include({
      attempt: 1,
      outcome: 'processing',
      serverId: claim.serverId,
      finishedAt: null,
    });
  });

  it('responds to a ping', async () => {
    await fixture.storage.ping();
  });

  it('reports connection pools that are within their sizes', async () => {
    await fixture.storage.ping();
    for (const { size, inUse, idle } of fixture.storage.pools()) expect(inUse + idle).to.be.within(0, size);
  });

  it('reads the clock that sets the times of jobs', async () => {
    const before = await fixture.storage.readClock();
    const { id } = await fixture.enqueue(fixture.newQueue());
    const after = await fixture.storage.readClock();
    const at = (await fixture.storage.jobs.find(id))?.createdAt.getTime();
    expect(at).to.be.within(before.getTime() - 1, after.getTime() + 1);
  });
}
