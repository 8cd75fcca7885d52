import { expect } from 'chai';
import { it } from 'mocha';
import type { ErrorGroup } from '@longshore/jobs/storage';
import { type Fixture, until } from './storage-under-test.js';

/** Lists of latest failures; each test uses its own names and queues. */
export function failing(fixture: Fixture): void {
  const failAgain = async (queue: string, message = 'No'): Promise<string> => {
    const { id: serverId } = await fixture.register(queue);
    const [claimed] = await fixture.claim(serverId, queue, 1);
    if (claimed === undefined) throw new Error('There is no job to claim');
    const { claim } = claimed;
    const error = { name: 'TypeError', message, stack: null };
    await fixture.storage.completions.complete([{ claim, outcome: { kind: 'failed', error } }]);
    const job = await fixture.storage.jobs.find(claim.jobId);
    // Ensures that the next job fails later by the storage's clock.
    await until(async () => (await fixture.storage.readClock()) > (job?.finishedAt ?? 0) || undefined);
    return claim.jobId;
  };
  const fail = async (queue: string, name = 'failing', message?: string): Promise<string> => {
    await fixture.enqueue(queue, { name });
    return failAgain(queue, message);
  };
  const latest = async (limit: number, queue?: string): Promise<string[]> => {
    const jobs = await fixture.storage.jobs.listLatestFailed({
      limit,
      ...(queue !== undefined && { queue }),
    });
    return jobs.map(({ id }) => id);
  };

  it('lists the jobs of a queue that failed last, latest first', async () => {
    const queue = fixture.newQueue();
    const ids = [await fail(queue), await fail(queue), await fail(queue)];
    await fail(fixture.newQueue());
    const { claim } = await fixture.claimOne({ queue });
    await fixture.storage.completions.complete([{ claim, outcome: { kind: 'done', result: 'null' } }]);
    expect(await latest(10, queue)).to.deep.equal(ids.toReversed());
    expect(await latest(2, queue)).to.deep.equal(ids.toReversed().slice(0, 2));
    const [oldest, after = ''] = ids;
    const rest = await fixture.storage.jobs.listLatestFailed({ queue, limit: 10, after });
    expect(rest.map(({ id }) => id)).to.deep.equal([oldest]);
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

  it('returns nothing for a queue that does not exist', async () => {
    expect(await latest(5, 'nowhere')).to.deep.equal([]);
  });

  it('groups errors by the time of the failure, not of the job’s creation', async () => {
    const queue = fixture.newQueue();
    const name = 'failing.again';
    const group = async (): Promise<ErrorGroup | undefined> => {
      const { groups } = await fixture.storage.statistics.listErrorGroups({
        sinceMs: 3_600_000,
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
