import { eventually } from '@longshore/test-support';
import { expect } from 'chai';
import { it } from 'mocha';
import { newId, ServerLostError } from '@longshore/jobs/storage';
import { type Fixture, newJob } from './storage-under-test.js';

export function claiming(fixture: Fixture): void {
  it('returns a job with its arguments and counts the attempt', async () => {
    const queue = fixture.newQueue();
    const job = await fixture.enqueue(queue, { name: 'count', args: '{"to":3}' });
    const { id: serverId } = await fixture.register(queue);
    const [claimed] = await fixture.claim(serverId, queue);
    expect(claimed?.claim).to.deep.equal({ jobId: job.id, queue, serverId, attempt: 1 });
    expect(claimed).to.include({ name: 'count', priority: 0, maxAttempts: 10 });
    expect(claimed?.args).to.deep.equal({ to: 3 });
  });

  it('shows a claimed job as processing, with its server', async () => {
    const { claim } = await fixture.claimOne();
    const job = await fixture.storage.jobs.find(claim.jobId);
    expect(job).to.include({ state: 'processing', serverId: claim.serverId, attempt: 1 });
    expect(job?.startedAt).to.be.a('date');
  });

  it('returns nothing from an empty queue', async () => {
    const queue = fixture.newQueue();
    const { id } = await fixture.register(queue);
    expect(await fixture.claim(id, queue)).to.deep.equal([]);
  });

  it('returns at most the requested number of jobs', async () => {
    const queue = fixture.newQueue();
    await fixture.storage.enqueuer.enqueue(Array.from({ length: 5 }, () => newJob(queue)));
    const { id } = await fixture.register(queue);
    expect(await fixture.claim(id, queue, 3)).to.have.length(3);
  });

  it('returns the lowest priority number first, then the oldest', async () => {
    const queue = fixture.newQueue();
    const jobs = [5, 0, -5, 0].map((priority) => ({ ...newJob(queue), priority }));
    await fixture.storage.enqueuer.enqueue(jobs);
    const { id } = await fixture.register(queue);
    const order = (await fixture.claim(id, queue)).map(({ claim }) =>
      jobs.findIndex((job) => job.id === claim.jobId),
    );
    expect(order).to.deep.equal([2, 1, 3, 0]);
  });

  it('returns only jobs for which the server has handlers', async () => {
    const queue = fixture.newQueue();
    const { id: old } = await fixture.register(queue, ['known', 'other']);
    const names = ['new', 'known', 'new', 'new', 'known'];
    for (const name of names) await fixture.enqueue(queue, { name });
    const claimed = await fixture.claim(old, queue);
    expect(claimed.map(({ name }) => name)).to.deep.equal(['known', 'known']);
    expect(await fixture.claim(old, queue)).to.deep.equal([]);
  });

  it('are found ready only in queues with jobs that the server could claim', async () => {
    const [empty, known, unknown, claimed] = Array.from({ length: 4 }, () => fixture.newQueue());
    if (!empty || !known || !unknown || !claimed) throw new RangeError('A queue is missing');
    const { id } = await fixture.register(claimed, ['known']);
    const findReady = () => fixture.storage.claims.findReady(id, [empty, known, unknown, claimed]);
    await fixture.enqueue(claimed, { name: 'known' });
    expect(await findReady()).to.deep.equal([claimed]);
    await fixture.claim(id, claimed);
    await fixture.enqueue(unknown, { name: 'other' });
    expect(await findReady()).to.deep.equal([]);
    await fixture.enqueue(known, { name: 'known', priority: 5 });
    expect(await findReady()).to.deep.equal([known]);
  });

  it('leaves other jobs in order and without an attempt, for a server that has handlers', async () => {
    const queue = fixture.newQueue();
    const jobs = [];
    for (const name of ['new', 'known', 'newer', 'new'])
      jobs.push(await fixture.enqueue(queue, { name, maxAttempts: 1 }));
    const { id: old } = await fixture.register(queue, ['known']);
    await fixture.claim(old, queue);
    const { id: young } = await fixture.register(queue, ['known', 'new', 'newer']);
    const claimed = await fixture.claim(young, queue);
    expect(claimed.map(({ claim }) => claim.jobId)).to.deep.equal([jobs[0]?.id, jobs[2]?.id, jobs[3]?.id]);
    expect(claimed.map(({ claim }) => claim.attempt)).to.deep.equal([1, 1, 1]);
  });

  it('does not count jobs without a handler against the limit of a queue', async () => {
    const queue = fixture.newQueue();
    await fixture.storage.queues.limit(queue, { concurrencyLimit: 2 });
    for (const name of ['new', 'new', 'new', 'known', 'known', 'known'])
      await fixture.enqueue(queue, { name });
    const { id: old } = await fixture.register(queue, ['known']);
    expect(await fixture.claim(old, queue)).to.have.length(2);
  });

  it('returns an urgent job that was enqueued after others were claimed', async () => {
    const queue = fixture.newQueue();
    await fixture.storage.enqueuer.enqueue([newJob(queue), newJob(queue), newJob(queue)]);
    const { id } = await fixture.register(queue);
    await fixture.claim(id, queue, 1);
    const urgent = await fixture.enqueue(queue, { priority: -1 });
    const found = await eventually(async () =>
      (await fixture.claim(id, queue, 1)).find(({ claim }) => claim.jobId === urgent.id),
    );
    expect(found.priority).to.equal(-1);
  });

  it('returns no job of another queue', async () => {
    const queue = fixture.newQueue();
    await fixture.enqueue(fixture.newQueue());
    const { id } = await fixture.register(queue);
    expect(await fixture.claim(id, queue)).to.deep.equal([]);
  });

  it('returns each job to exactly one of many concurrent servers', async () => {
    const queue = fixture.newQueue();
    await fixture.storage.enqueuer.enqueue(Array.from({ length: 100 }, () => newJob(queue)));
    const servers = await Promise.all(Array.from({ length: 5 }, () => fixture.register(queue)));
    const claimed = (
      await Promise.all(
        servers.flatMap(({ id }) => [fixture.claim(id, queue, 20), fixture.claim(id, queue, 20)]),
      )
    ).flat();
    expect(new Set(claimed.map(({ claim }) => claim.jobId)).size).to.equal(claimed.length);
  });

  it('rejects a server that has been declared dead', async () => {
    const queue = fixture.newQueue();
    const { id } = await fixture.register(queue);
    await fixture.silence(id);
    await fixture.storage.maintenance.rescue();
    await fixture.enqueue(queue);
    expect(await fixture.claim(id, queue).catch((error: unknown) => error)).to.be.instanceOf(ServerLostError);
  });

  it('rejects a server that never registered', async () => {
    const queue = fixture.newQueue();
    await fixture.enqueue(queue);
    expect(await fixture.claim(newId(), queue).catch((error: unknown) => error)).to.be.instanceOf(
      ServerLostError,
    );
  });
}
