import { expect } from 'chai';
import type { NewJob } from '@longshore/jobs/storage';
import { it } from 'mocha';
import { type Fixture, newJob } from './storage-under-test.js';

export function enqueuing(fixture: Fixture): void {
  it('stores all properties of a job', async () => {
    const queue = fixture.newQueue();
    const { id } = await fixture.enqueue(queue, {
      name: 'keep',
      priority: -3,
      maxAttempts: 4,
      args: '{"a":[1,"zwei",null]}',
    });
    expect(await fixture.storage.jobs.find(id)).to.include({
      id,
      name: 'keep',
      queue,
      priority: -3,
      maxAttempts: 4,
    });
    expect((await fixture.storage.jobs.find(id))?.args).to.deep.equal({ a: [1, 'zwei', null] });
  });

  it('makes a new job enqueued, without attempt, result, error or server', async () => {
    const { id } = await fixture.enqueue(fixture.newQueue());
    expect(await fixture.storage.jobs.find(id)).to.include({
      state: 'enqueued',
      attempt: 0,
      result: null,
      error: null,
      runAt: null,
      startedAt: null,
      finishedAt: null,
      serverId: null,
    });
  });

  it('stores text in every script, with quotes, backslashes and commas', async () => {
    const text = 'Ünïcödé 漢字 🚢 "quoted" \\ back, {brace} \u2028 %_';
    const { id } = await fixture.enqueue(fixture.newQueue(), { args: JSON.stringify({ text }) });
    expect((await fixture.storage.jobs.find(id))?.args).to.deep.equal({ text });
  });

  it('rejects a second job with the same id and keeps the first', async () => {
    const queue = fixture.newQueue();
    const first = await fixture.enqueue(queue, { args: '{"n":1}' });
    const refusal = await fixture.storage.enqueuer
      .enqueue([{ ...first, args: '{"n":2}' }])
      .catch((error: unknown) => error);
    expect(refusal).to.be.an('error');
    expect((await fixture.storage.jobs.find(first.id))?.args).to.deep.equal({ n: 1 });
  });

  it('stores all jobs of a call in the given order', async () => {
    const queue = fixture.newQueue();
    const jobs = Array.from({ length: 25 }, () => newJob(queue));
    await fixture.storage.enqueuer.enqueue(jobs);
    const { id } = await fixture.register(queue);
    const claimed = await fixture.claim(id, queue, 25);
    expect(claimed.map(({ claim }) => claim.jobId)).to.deep.equal(jobs.map((job) => job.id));
  });

  it('stores jobs for several queues in one call', async () => {
    const queues = [fixture.newQueue(), fixture.newQueue()];
    await fixture.storage.enqueuer.enqueue(queues.map(newJob));
    expect(await fixture.storage.jobs.count({ queue: queues, state: ['enqueued'] })).to.deep.equal({
      count: 2,
      exact: true,
    });
  });

  it('stores none of the jobs if one of them is rejected', async () => {
    const queue = fixture.newQueue();
    const job = newJob(queue);
    const refusal = await fixture.storage.enqueuer
      .enqueue([newJob(queue), job, job])
      .catch((error: unknown) => error);
    expect(refusal).to.be.an('error');
    expect((await fixture.storage.jobs.count({ queue: [queue] })).count).to.equal(0);
  });

  it('stores jobs that arrive in slices as one call, even if one of them requires all others to be known', async () => {
    const queue = fixture.newQueue();
    const [first, second, third] = [newJob(queue), newJob(queue), newJob(queue)];
    async function* slices(): AsyncGenerator<NewJob[]> {
      yield [first, second];
      yield [{ ...third, after: { parents: [first.id], when: 'onDone' } }];
    }
    await fixture.storage.enqueuer.enqueue(slices());
    const states = [first, second, third].map(async ({ id }) => (await fixture.storage.jobs.find(id))?.state);
    expect(await Promise.all(states)).to.deep.equal(['enqueued', 'enqueued', 'awaiting']);
  });

  it('stores no slice if building a later one fails, and rejects with the reason', async () => {
    const queue = fixture.newQueue();
    const reason = new Error('there is no connection between these arguments');
    async function* slices(): AsyncGenerator<NewJob[]> {
      yield [newJob(queue)];
      throw reason;
    }
    const refusal: unknown = await fixture.storage.enqueuer
      .enqueue(slices())
      .catch((error: unknown) => error);
    expect(refusal).to.equal(reason);
    expect((await fixture.storage.jobs.count({ queue: [queue] })).count).to.equal(0);
  });

  for (const [place, refused] of ['first', 'second', 'last'].entries()) {
    it(`stores none of the jobs for several queues if the job for the ${refused} is rejected`, async () => {
      const queues = [fixture.newQueue(), fixture.newQueue(), fixture.newQueue()];
      const jobs = queues.map(newJob);
      const standing = jobs[place];
      if (standing === undefined) throw new Error('There is no such place');
      await fixture.storage.enqueuer.enqueue([standing]);
      const refusal: unknown = await fixture.storage.enqueuer.enqueue(jobs).catch((error: unknown) => error);
      expect(refusal).to.be.an('error');
      expect((await fixture.storage.jobs.count({ queue: queues })).count).to.equal(1);
    });
  }

  it('rejects only the invalid job when many are enqueued concurrently', async () => {
    const queue = fixture.newQueue();
    const taken = await fixture.enqueue(queue);
    const jobs = [newJob(queue), taken, newJob(queue), newJob(queue)];
    const results = await Promise.allSettled(jobs.map((job) => fixture.storage.enqueuer.enqueue([job])));
    expect(results.map(({ status }) => status)).to.deep.equal([
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
    ]);
  });

  it('notifies listeners of the queue', async () => {
    const queue = fixture.newQueue();
    const woken = new Promise<string>((resolve) => {
      const unsubscribe = fixture.storage.onNotification((notification) => {
        if (notification.kind !== 'ready' || notification.queue !== queue) return false;
        unsubscribe();
        resolve(queue);
        return false;
      });
    });
    await fixture.enqueue(queue);
    expect(await woken).to.equal(queue);
  });
}
