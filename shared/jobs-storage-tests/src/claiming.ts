import { expect } from 'chai';
import { it } from 'mocha';
import { newId, ServerLostError } from '@longshore/jobs/storage';
import { type Bench, newJob, until } from './storage-under-test.js';

export function claiming(bench: Bench): void {
  it('returns a job with its arguments and counts the attempt', async () => {
    const queue = bench.newQueue();
    const job = await bench.enqueue(queue, { name: 'count', args: '{"to":3}' });
    const { id: serverId } = await bench.register(queue);
    const [claimed] = await bench.claim(serverId, queue);
    expect(claimed?.claim).to.deep.equal({ jobId: job.id, queue, serverId, attempt: 1 });
    expect(claimed).to.include({ name: 'count', priority: 0, maxAttempts: 10 });
    expect(claimed?.args).to.deep.equal({ to: 3 });
  });

  it('shows a claimed job as processing, with its server', async () => {
    const { claim } = await bench.claimOne();
    const job = await bench.storage.jobs.find(claim.jobId);
    expect(job).to.include({ state: 'processing', serverId: claim.serverId, attempt: 1 });
    expect(job?.startedAt).to.be.a('date');
  });

  it('returns nothing from an empty queue', async () => {
    const queue = bench.newQueue();
    const { id } = await bench.register(queue);
    expect(await bench.claim(id, queue)).to.deep.equal([]);
  });

  it('returns at most the requested number of jobs', async () => {
    const queue = bench.newQueue();
    await bench.storage.enqueuer.enqueue(Array.from({ length: 5 }, () => newJob(queue)));
    const { id } = await bench.register(queue);
    expect(await bench.claim(id, queue, 3)).to.have.length(3);
  });

  it('returns the lowest priority number first, then the oldest', async () => {
    const queue = bench.newQueue();
    const jobs = [5, 0, -5, 0].map((priority) => ({ ...newJob(queue), priority }));
    await bench.storage.enqueuer.enqueue(jobs);
    const { id } = await bench.register(queue);
    const order = (await bench.claim(id, queue)).map(({ claim }) =>
      jobs.findIndex((job) => job.id === claim.jobId),
    );
    expect(order).to.deep.equal([2, 1, 3, 0]);
  });

  it('returns only jobs for which the server has handlers', async () => {
    const queue = bench.newQueue();
    const { id: old } = await bench.register(queue, ['known', 'other']);
    const names = ['new', 'known', 'new', 'new', 'known'];
    for (const name of names) await bench.enqueue(queue, { name });
    const claimed = await bench.claim(old, queue);
    expect(claimed.map(({ name }) => name)).to.deep.equal(['known', 'known']);
    expect(await bench.claim(old, queue)).to.deep.equal([]);
  });

  it('leaves other jobs in order and without an attempt, for a server that has handlers', async () => {
    const queue = bench.newQueue();
    const jobs = [];
    for (const name of ['new', 'known', 'newer', 'new'])
      jobs.push(await bench.enqueue(queue, { name, maxAttempts: 1 }));
    const { id: old } = await bench.register(queue, ['known']);
    await bench.claim(old, queue);
    const { id: young } = await bench.register(queue, ['known', 'new', 'newer']);
    const claimed = await bench.claim(young, queue);
    expect(claimed.map(({ claim }) => claim.jobId)).to.deep.equal([jobs[0]?.id, jobs[2]?.id, jobs[3]?.id]);
    expect(claimed.map(({ claim }) => claim.attempt)).to.deep.equal([1, 1, 1]);
  });

  it('does not count jobs without a handler against the limit of a queue', async () => {
    const queue = bench.newQueue();
    await bench.storage.queues.limit(queue, { concurrencyLimit: 2 });
    for (const name of ['new', 'new', 'new', 'known', 'known', 'known']) await bench.enqueue(queue, { name });
    const { id: old } = await bench.register(queue, ['known']);
    expect(await bench.claim(old, queue)).to.have.length(2);
  });

  it('returns an urgent job that was enqueued after others were claimed', async () => {
    const queue = bench.newQueue();
    await bench.storage.enqueuer.enqueue([newJob(queue), newJob(queue), newJob(queue)]);
    const { id } = await bench.register(queue);
    await bench.claim(id, queue, 1);
    const urgent = await bench.enqueue(queue, { priority: -1 });
    const found = await until(async () =>
      (await bench.claim(id, queue, 1)).find(({ claim }) => claim.jobId === urgent.id),
    );
    expect(found.priority).to.equal(-1);
  });

  it('returns no job of another queue', async () => {
    const queue = bench.newQueue();
    await bench.enqueue(bench.newQueue());
    const { id } = await bench.register(queue);
    expect(await bench.claim(id, queue)).to.deep.equal([]);
  });

  it('returns each job to exactly one of many concurrent servers', async () => {
    const queue = bench.newQueue();
    await bench.storage.enqueuer.enqueue(Array.from({ length: 100 }, () => newJob(queue)));
    const servers = await Promise.all(Array.from({ length: 5 }, () => bench.register(queue)));
    const claimed = (
      await Promise.all(servers.flatMap(({ id }) => [bench.claim(id, queue, 20), bench.claim(id, queue, 20)]))
    ).flat();
    expect(new Set(claimed.map(({ claim }) => claim.jobId)).size).to.equal(claimed.length);
  });

  it('rejects a server that has been declared dead', async () => {
    const queue = bench.newQueue();
    const { id } = await bench.register(queue);
    await bench.silence(id);
    await bench.storage.maintenance.rescue();
    await bench.enqueue(queue);
    expect(await bench.claim(id, queue).catch((error: unknown) => error)).to.be.instanceOf(ServerLostError);
  });

  it('rejects a server that never registered', async () => {
    const queue = bench.newQueue();
    await bench.enqueue(queue);
    expect(await bench.claim(newId(), queue).catch((error: unknown) => error)).to.be.instanceOf(
      ServerLostError,
    );
  });
}
