import { eventually } from '@longshore/test-support';
import { expect } from 'chai';
import { it } from 'mocha';
import {
  errorFingerprint,
  type ErrorGroup,
  type NewJob,
  type Outcome,
  type ThroughputBucket,
} from '@longshore/jobs/storage';
import { type Fixture, hourMs, yearMs } from './storage-under-test.js';

const minuteMs = 60_000;

const failure = (message: string): Outcome => ({
  kind: 'failed',
  error: { name: 'TypeError', message, stack: null },
});

const named = (queues: number): string[] =>
  Array.from({ length: queues }, (_each, index) => `queue ${index}`);

/** Defines the tests of statistics, such as error groups and throughput. Each test uses its own names and queues. */
export function measuring(fixture: Fixture): void {
  const end = async (job: Partial<NewJob>, outcome: Outcome): Promise<string> => {
    const { claim } = await fixture.claimOne(job);
    await fixture.storage.completions.complete([{ claim, outcome }]);
    return claim.jobId;
  };
  const groupsOf = async (name: string, sinceMs = hourMs): Promise<ErrorGroup[]> => {
    const { groups } = await fixture.storage.statistics.listErrorGroups({ sinceMs, limit: 1_000 });
    return groups.filter((group) => group.name === name);
  };
  /** Returns the number of jobs that ended in this state, by the start of their bucket; no entries for empty buckets. */
  const byBucket = (
    buckets: readonly ThroughputBucket[],
    state: 'done' | 'failed' = 'done',
  ): Map<number, number> =>
    new Map(
      buckets.filter((bucket) => bucket[state] > 0).map((bucket) => [bucket.at.getTime(), bucket[state]]),
    );
  /** Returns the number of ended jobs by the start of their bucket, from the times at which the jobs ended. */
  const expected = (ends: readonly number[], bucketMs: number): Map<number, number> => {
    const counts = new Map<number, number>();
    for (const at of ends
      .map((ms) => Math.floor(ms / bucketMs) * bucketMs)
      .toSorted((one, other) => one - other))
      counts.set(at, (counts.get(at) ?? 0) + 1);
    return counts;
  };
  const endOf = async (id: string): Promise<number> => {
    const job = await fixture.storage.jobs.find(id);
    if (!job?.finishedAt) throw new Error(`Job ${id} has not ended`);
    return job.finishedAt.getTime();
  };
  const sum = (buckets: readonly ThroughputBucket[], state: 'done' | 'failed'): number =>
    buckets.reduce((total, bucket) => total + bucket[state], 0);

  it('groups failures of one kind, ignoring numbers, ids and quoted text', async () => {
    const name = 'measuring.grouped';
    const messages = ['No ship 17 for "order 4"', 'No ship 18 for "order 5"'];
    const ids: string[] = [];
    for (const message of messages) ids.push(await end({ name }, failure(message)));
    await end({ name }, failure('No sea'));
    const [ships, sea] = await groupsOf(name);
    expect(ships).to.deep.include({
      fingerprint: 'TypeError: No ship <n> for <text>',
      count: 2,
      retryable: 2,
    });
    expect(messages[ids.indexOf(ships?.exampleId ?? '')]).to.equal(ships?.message);
    expect(ships?.lastSeenAt.getTime()).to.be.at.least(ships?.firstSeenAt.getTime() ?? Infinity);
    expect(sea).to.include({
      fingerprint: errorFingerprint({ name: 'TypeError', message: 'No sea' }),
      count: 1,
    });
  });

  it('separates failures of different jobs', async () => {
    await end({ name: 'measuring.one' }, failure('No'));
    await end({ name: 'measuring.other' }, failure('No'));
    expect(await groupsOf('measuring.one')).to.have.length(1);
    expect((await groupsOf('measuring.other'))[0]).to.include({ count: 1 });
  });

  it('counts a job that waits for another attempt as not retryable', async () => {
    const name = 'measuring.retrying';
    const error = { name: 'Error', message: 'not yet', stack: null };
    await end({ name }, { kind: 'retry', error, delayMs: yearMs });
    expect((await groupsOf(name))[0]).to.include({ count: 1, retryable: 0 });
  });

  it('counts the failures of a group over time, with those that will be retried', async () => {
    const name = 'measuring.course';
    await end({ name }, failure('No'));
    await end({ name }, failure('No'));
    const error = { name: 'TypeError', message: 'No', stack: null };
    await end({ name }, { kind: 'retry', error, delayMs: yearMs });
    const { groups } = await fixture.storage.statistics.listErrorGroups({
      sinceMs: hourMs,
      limit: 1_000,
      bucketMs: hourMs / 4,
    });
    const course = groups.find((group) => group.name === name)?.course ?? [];
    expect(course).to.have.length(5);
    expect(course.every(({ at, exact }) => exact && at.getTime() % (hourMs / 4) === 0)).to.equal(true);
    // A new bucket may have begun in between.
    expect(course.slice(0, -2).map(({ jobs }) => jobs)).to.deep.equal([0, 0, 0]);
    expect(course.slice(-2).reduce((sum, { jobs }) => sum + jobs, 0)).to.equal(3);
  });

  it('refuses to count failures in too many buckets', async () => {
    const query = { sinceMs: hourMs, bucketMs: hourMs / 51 };
    const refusal = await fixture.storage.statistics.listErrorGroups(query).catch((error: unknown) => error);
    expect(refusal).to.be.instanceOf(RangeError);
  });

  it('ignores older failures', async () => {
    const name = 'measuring.old';
    await end({ name }, failure('No'));
    expect(await groupsOf(name)).to.have.length(1);
    await eventually(
      () => groupsOf(name, 1),
      (groups) => groups.length === 0,
    );
  });

  it('returns at most the requested number of groups, the largest first', async () => {
    const { groups } = await fixture.storage.statistics.listErrorGroups({ sinceMs: hourMs, limit: 2 });
    const counts = groups.map(({ count }) => count);
    expect(counts).to.have.length(2);
    expect(counts).to.deep.equal(counts.toSorted((one, other) => other - one));
  });

  it('counts the ended jobs of a queue per minute', async () => {
    const queue = fixture.newQueue();
    const throughput = (): Promise<ThroughputBucket[]> =>
      fixture.storage.statistics.throughput({ sinceMs: hourMs, bucketMs: minuteMs, queue });
    const done = [await endOf(await end({ queue }, { kind: 'done', result: 'null' }))];
    const failed = [await endOf(await end({ queue }, failure('No')))];
    const id = await end({ queue }, failure('No'));
    failed.push(await endOf(id));
    await fixture.storage.maintenance.maintain();
    done.push(await endOf(await end({ queue }, { kind: 'done', result: 'null' })));
    await fixture.storage.control.retry(id);
    const buckets = await throughput();
    expect(buckets.length).to.be.within(60, 62);
    expect(buckets.every(({ at }) => at.getTime() % minuteMs === 0)).to.equal(true);
    expect(byBucket(buckets, 'done')).to.deep.equal(expected(done, minuteMs));
    expect(byBucket(buckets, 'failed')).to.deep.equal(expected(failed, minuteMs));
  });

  it('counts the ended jobs of all queues in buckets of any multiple of ten seconds', async () => {
    const all = async (bucketMs: number): Promise<Map<number, number>> =>
      byBucket(await fixture.storage.statistics.throughput({ sinceMs: hourMs, bucketMs }));
    for (const bucketMs of [10_000, minuteMs]) {
      const before = await all(bucketMs);
      const endedAt = await endOf(await end({}, { kind: 'done', result: 'null' }));
      const after = await all(bucketMs);
      const added = [...after].map(([at, count]) => [at, count - (before.get(at) ?? 0)]);
      const at = Math.floor(endedAt / bucketMs) * bucketMs;
      expect(added.filter(([, count]) => count !== 0)).to.deep.equal([[at, 1]]);
    }
  });

  it('shows a queue that does not exist as idle', async () => {
    const query = { sinceMs: hourMs, bucketMs: minuteMs, queue: 'nowhere' };
    expect(sum(await fixture.storage.statistics.throughput(query), 'done')).to.equal(0);
  });

  it('counts the ended jobs of several queues separately in one read', async () => {
    const [busy, failing, idle] = [fixture.newQueue(), fixture.newQueue(), fixture.newQueue()];
    const queues = [failing, idle, busy, 'nowhere', busy];
    const ends: number[] = [];
    for (const queue of [busy, busy, failing])
      ends.push(await endOf(await end({ queue }, { kind: 'done', result: 'null' })));
    await end({ queue: failing }, failure('No'));
    await fixture.storage.maintenance.maintain();
    ends.push(await endOf(await end({ queue: busy }, { kind: 'done', result: 'null' })));
    await fixture.enqueue(idle);
    const ended = await fixture.storage.statistics.throughputByQueue({
      queues,
      sinceMs: hourMs,
      bucketMs: 300_000,
    });
    const totals = Array.from(ended, ([queue, buckets]) => [
      queue,
      sum(buckets, 'done'),
      sum(buckets, 'failed'),
    ]);
    expect(totals).to.deep.equal([
      [failing, 1, 1],
      [idle, 0, 0],
      [busy, 3, 0],
      ['nowhere', 0, 0],
    ]);
    for (const buckets of ended.values()) {
      expect(buckets.length).to.be.within(13, 14);
      expect(buckets.every(({ at }) => at.getTime() % 300_000 === 0)).to.equal(true);
    }
    ends.splice(2, 1); // the job of the other queue
    expect(byBucket(ended.get(busy) ?? [])).to.deep.equal(expected(ends, 300_000));
  });

  for (const [why, query] of [
    ['101 queues', { queues: named(101), sinceMs: hourMs, bucketMs: hourMs }],
    ['2040 buckets in all', { queues: named(34), sinceMs: hourMs, bucketMs: minuteMs }],
    ['buckets of 10 s', { queues: ['any'], sinceMs: hourMs, bucketMs: 10_000 }],
    ['two days', { queues: ['any'], sinceMs: 2 * 86_400_000, bucketMs: hourMs }],
  ] as const) {
    it(`rejects throughput of several queues that is too much or not kept: ${why}`, async () => {
      const refusal: unknown = await fixture.storage.statistics
        .throughputByQueue(query)
        .catch((reason: unknown) => reason);
      expect(refusal).to.be.instanceOf(RangeError);
    });
  }

  for (const query of [
    { sinceMs: hourMs, bucketMs: 15_000 },
    { sinceMs: hourMs, bucketMs: 10_000, queue: 'any' },
    { sinceMs: 8 * 86_400_000, bucketMs: 86_400_000 },
    { sinceMs: 86_400_000, bucketMs: 10_000 },
  ]) {
    it(`rejects throughput that is not kept: ${JSON.stringify(query)}`, async () => {
      const refusal: unknown = await fixture.storage.statistics
        .throughput(query)
        .catch((reason: unknown) => reason);
      expect(refusal).to.be.instanceOf(RangeError);
    });
  }

  it('finds a single queue by name', async () => {
    const queue = fixture.newQueue();
    await fixture.enqueue(queue);
    const found = await fixture.storage.queues.find(queue);
    expect(found).to.deep.equal((await fixture.storage.queues.list()).find(({ name }) => name === queue));
    expect(found?.counts.enqueued).to.equal(1);
    expect(await fixture.storage.queues.find('nowhere')).to.equal(null);
  });
}
