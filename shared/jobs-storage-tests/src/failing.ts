import { expect } from 'chai';
import { it } from 'mocha';
import type { ErrorGroup, FailurePosition } from '@longshore/jobs/storage';
import { type Fixture, hourMs } from './storage-under-test.js';

/** Defines the tests of listing the latest failures. Each test uses its own names and queues. */
export function failing(fixture: Fixture): void {
  const failAgain = async (queue: string, message = 'No'): Promise<string> => {
    const { id: serverId } = await fixture.register(queue);
    const [claimed] = await fixture.claim(serverId, queue, 1);
    if (claimed === undefined) throw new Error('There is no job to claim');
    const { claim } = claimed;
    const error = { name: 'TypeError', message, stack: null };
    await fixture.storage.completions.complete([{ claim, outcome: { kind: 'failed', error } }]);
    const job = await fixture.storage.jobs.find(claim.jobId);
    // Waits until the storage's clock has advanced, so that the next job fails at a later time.
    await fixture.untilAfter(job?.finishedAt);
    return claim.jobId;
  };
  const fail = async (queue: string, name = 'failing', message?: string): Promise<string> => {
    await fixture.enqueue(queue, { name });
    return failAgain(queue, message);
  };
  const latest = async (limit: number, queue?: string, after?: FailurePosition): Promise<string[]> => {
    const jobs = await fixture.storage.jobs.listLatestFailed({
      limit,
      ...(queue !== undefined && { queue }),
      ...(after !== undefined && { after }),
    });
    return jobs.map(({ id }) => id);
  };

  const positionOf = async (id: string): Promise<FailurePosition> => {
    const job = await fixture.storage.jobs.find(id);
    if (!job?.finishedAt) throw new Error(`Job ${id} has not failed`);
    return { id, failedAt: job.finishedAt };
  };

  it('lists the jobs of a queue that failed last, latest first', async () => {
    const queue = fixture.newQueue();
    const ids = [await fail(queue), await fail(queue), await fail(queue)];
    await fail(fixture.newQueue());
    const { claim } = await fixture.claimOne({ queue });
    await fixture.storage.completions.complete([{ claim, outcome: { kind: 'done', result: 'null' } }]);
    expect(await latest(10, queue)).to.deep.equal(ids.toReversed());
    expect(await latest(2, queue)).to.deep.equal(ids.toReversed().slice(0, 2));
    const [oldest = '', middle = ''] = ids;
    const after = await positionOf(middle);
    expect(await latest(10, queue, after)).to.deep.equal([oldest]);
    const ofAll = await latest(10, undefined, after);
    expect([ofAll.indexOf(oldest), ofAll.indexOf(middle)]).to.deep.equal([0, -1]);
  });

  for (const [change, leave] of Object.entries({
    retried: async (id: string) => fixture.storage.control.retry(id),
    'retried, and has failed again': async (id: string, queue: string) => {
      await fixture.storage.control.retry(id);
      await failAgain(queue);
    },
    deleted: async (id: string) => fixture.storage.control.delete(id),
  }))
    it(`continues after a job that was ${change} since`, async () => {
      const queue = fixture.newQueue();
      const [old, last] = [await fail(queue), await fail(queue)];
      const after = await positionOf(last);
      await leave(last, queue);
      expect(await latest(10, queue, after)).to.deep.equal([old]);
      const query = { filter: { queue: [queue] }, limit: 10, maxExamined: 100, after };
      const { jobs } = await fixture.storage.jobs.searchFailed(query);
      expect(jobs.map(({ id }) => id)).to.deep.equal([old]);
    });

  it('lists an old job that was retried and failed again before newer ones', async () => {
    const queue = fixture.newQueue();
    const old = await fail(queue);
    const newer = await fail(queue);
    expect(await latest(2)).to.deep.equal([newer, old]);
    await fixture.storage.control.retry(old);
    expect(await latest(2, queue)).to.deep.equal([newer]);
    expect(await failAgain(queue)).to.equal(old);
    expect(await latest(2, queue)).to.deep.equal([old, newer]);
    expect(await latest(2)).to.deep.equal([old, newer]);
  });

  it('finds failed jobs that match a filter in the order of their failure, and says how far it searched', async () => {
    const queue = fixture.newQueue();
    const [old, other, newer] = [
      await fail(queue, 'failing.a'),
      await fail(queue, 'failing.b'),
      await fail(queue, 'failing.a'),
    ];
    await fixture.storage.control.retry(old);
    await failAgain(queue);
    const query = { filter: { queue: [queue], name: ['failing.a'] }, limit: 5, maxExamined: 100 };
    const { jobs, last } = await fixture.storage.jobs.searchFailed(query);
    expect(jobs.map(({ id }) => id)).to.deep.equal([old, newer]);
    expect(last).to.equal(null);
    const after = await fixture.storage.jobs.searchFailed({ ...query, after: await positionOf(old) });
    expect(after.jobs.map(({ id }) => id)).to.deep.equal([newer]);
    const some = await fixture.storage.jobs.searchFailed({
      ...query,
      filter: { queue: [queue] },
      maxExamined: 2,
    });
    // A storage may examine more jobs than `maxExamined`. `last` is `null` if it has examined all failed jobs.
    if (some.last !== null) expect([some.jobs.length, some.last]).to.deep.equal([2, await positionOf(newer)]);
    else expect(some.jobs.at(-1)?.id).to.equal(other);
  });

  it('returns nothing for a queue that does not exist', async () => {
    expect(await latest(5, 'nowhere')).to.deep.equal([]);
  });

  it('groups errors by the time of the failure, not of the job’s creation', async () => {
    const queue = fixture.newQueue();
    const name = 'failing.again';
    const group = async (): Promise<ErrorGroup | undefined> => {
      const { groups } = await fixture.storage.statistics.listErrorGroups({
        sinceMs: hourMs,
        limit: 1_000,
      });
      return groups.find((candidate) => candidate.name === name);
    };
    const old = await fail(queue, name, 'No ship 1');
    const newer = await fail(queue, name, 'No ship 2');
    expect(await group()).to.include({ exampleId: newer, message: 'No ship 2', count: 2 });
    await fixture.storage.control.retry(old);
    await failAgain(queue, 'No ship 3');
    const [job] = await fixture.storage.jobs.listLatestFailed({ queue, limit: 1 });
    expect(await group()).to.deep.include({
      exampleId: old,
      message: 'No ship 3',
      lastSeenAt: job?.finishedAt,
    });
  });
}
