import { eventually } from '@longshore/test-support';
import { expect } from 'chai';
import { it } from 'mocha';
import { defineJob, handleJob, JobClient, JobServer } from '@longshore/jobs';
import { Timing, type TimingBucket, type TimingQuery } from '@longshore/jobs/storage';
import { steadyServer } from './serving-queue.js';
import { type Fixture, hourMs } from './storage-under-test.js';

const minuteMs = 60_000;

/** Defines the tests of job timings. Each test uses its own queues and names. */
export function timing(fixture: Fixture): void {
  const read = async (
    query: Pick<TimingQuery, 'queue' | 'name'>,
    bucketMs = minuteMs,
  ): Promise<TimingBucket[]> => {
    await fixture.storage.maintenance.maintain();
    const now = fixture.storage.clock.now();
    const from = new Date(now - hourMs);
    return fixture.storage.timings.read({ from, until: new Date(now + 1), bucketMs, ...query });
  };
  const total = (buckets: readonly TimingBucket[]): Timing => {
    const sum = new Timing();
    for (const bucket of buckets) sum.merge(bucket.timing);
    return sum;
  };

  it('adds up attempts by queue, by name, and by name in a queue', async () => {
    const [one, other] = [fixture.newQueue(), fixture.newQueue()];
    const { timings } = fixture.storage;
    timings.started(one, 'timing.mail', { waitedMs: 1_000, readyMs: 1_000 });
    timings.ended(one, 'timing.mail', 'done', 10);
    timings.ended(one, 'timing.import', 'failed', 10);
    timings.ended(other, 'timing.mail', 'retry', 10);
    timings.ended(other, 'timing.mail', 'snooze', 10);
    await eventually(
      async () => total(await read({ queue: other })).retried,
      (retried) => retried === 1,
    );
    const figures = await Promise.all(
      [
        { queue: one },
        { queue: one, name: 'timing.mail' },
        { name: 'timing.mail' },
        { queue: other, name: 'timing.import' },
        { queue: 'nowhere' },
      ].map(async (query) => {
        const { done, failed, retried, waiting, running } = total(await read(query));
        return [done, failed, retried, waiting.total, running.total];
      }),
    );
    expect(figures).to.deep.equal([
      [1, 1, 0, 1, 2],
      [1, 0, 0, 1, 1],
      [1, 0, 1, 1, 2],
      [0, 0, 0, 0, 0],
      [0, 0, 0, 0, 0],
    ]);
  });

  it('adds to what is already stored, by the minute and by the hour', async () => {
    const queue = fixture.newQueue();
    const waits = [
      [5, 2_000],
      [86_400_000, 2_000, 80],
    ];
    for (const [place, part] of waits.entries()) {
      for (const ms of part)
        fixture.storage.timings.started(queue, 'timing.added', { waitedMs: ms, readyMs: ms });
      await eventually(
        async () => total(await read({ queue })).waiting.total,
        (started) => started === [2, 5][place],
      );
    }
    for (const bucketMs of [minuteMs, hourMs]) {
      const { waiting } = total(await read({ queue }, bucketMs));
      expect(waiting.sumMs).to.equal(86_404_085);
      expect(waiting.percentile(0.5)).to.be.within(1_800, 2_200);
      expect(waiting.percentile(1)).to.be.within(77_000_000, 96_000_000);
    }
  });

  it('returns buckets without gaps, oldest first', async () => {
    const buckets = await read({ queue: 'nowhere' }, 5 * minuteMs);
    const [first] = buckets;
    expect(buckets.map(({ at }) => at.getTime())).to.deep.equal(
      buckets.map((_bucket, place) => (first?.at.getTime() ?? 0) + place * 5 * minuteMs),
    );
    expect(buckets.length).to.be.within(12, 14);
  });

  it('lists names by the number of their attempts', async () => {
    const queue = fixture.newQueue();
    for (const name of ['timing.often', 'timing.rare', 'timing.often'])
      fixture.storage.timings.ended(queue, name, 'done', 1);
    await eventually(
      async () => total(await read({ queue })).done,
      (done) => done === 3,
    );
    const names = await fixture.storage.timings.listNames({ queue, sinceMs: hourMs, limit: 5 });
    expect(names.map(({ name, timing: { done } }) => [name, done])).to.deep.equal([
      ['timing.often', 2],
      ['timing.rare', 1],
    ]);
    const [first, ...rest] = await fixture.storage.timings.listNames({ queue, sinceMs: hourMs, limit: 1 });
    expect([first?.name, rest]).to.deep.equal(['timing.often', []]);
  });

  it('reads the histories of several names as of one time, each with its recent minutes', async () => {
    const queue = fixture.newQueue();
    const { timings, clock } = fixture.storage;
    timings.ended(queue, 'timing.fails', 'retry', 40);
    timings.ended(queue, 'timing.fails', 'failed', 40);
    timings.started(queue, 'timing.starts', { waitedMs: 90, readyMs: 90 });
    await eventually(
      async () => total(await read({ queue })),
      ({ retried, waiting }) => retried === 1 && waiting.total === 1,
    );
    const names = ['timing.fails', 'timing.starts', 'timing.none'];
    const { readAt, byName, total: all } = await timings.readHistories({ queue, names });
    expect(Math.abs(readAt.getTime() - clock.now())).to.be.below(minuteMs);
    expect([...byName.keys()].toSorted()).to.deep.equal(names.toSorted());
    const figures = names.map((name) =>
      (byName.get(name) ?? []).map(
        ({ at, bucketMs, timing: { done, failed, retried, running, waiting } }) => {
          expect(bucketMs).to.equal(minuteMs);
          expect(at.getTime() % minuteMs).to.equal(0);
          return [done, failed, retried, running.total, waiting.total];
        },
      ),
    );
    expect(figures).to.deep.equal([[[0, 1, 1, 2, 0]], [[0, 0, 0, 0, 1]], []]);
    expect(all.map(({ timing: { retried, waiting } }) => [retried, waiting.total])).to.deep.equal([[1, 1]]);
    expect((await timings.readHistories({ names })).byName.get('timing.fails')).to.have.length(1);
    expect(
      (await timings.readHistories({ queue: 'nowhere', names })).byName.get('timing.fails'),
    ).to.deep.equal([]);
  });

  it('returns with a claim when the job became ready, not when it was created', async () => {
    const { queue, claim } = await fixture.claimOne();
    await fixture.untilAfter((await fixture.storage.jobs.find(claim.jobId))?.startedAt);
    await fixture.storage.completions.complete([{ claim, outcome: { kind: 'retry', error, delayMs: 0 } }]);
    await fixture.untilPromoted(claim.jobId);
    const [again] = await fixture.claimSome(claim.serverId, queue);
    expect(again.readyAt.getTime()).to.be.above(again.createdAt.getTime());
    const fresh = await fixture.enqueue(queue);
    const [claimed] = await fixture.claimSome(claim.serverId, queue);
    expect(claimed.claim.jobId).to.equal(fresh.id);
    expect(claimed.readyAt).to.deep.equal(claimed.createdAt);
  });

  it('records the attempts of a job server', async () => {
    const queue = fixture.newQueue();
    const definition = defineJob({ name: 'timing.served', queue, maxAttempts: 1 });
    const { storage } = fixture;
    await new JobClient(storage).enqueue(definition, {});
    const server = new JobServer({
      storage,
      queues: [queue],
      handlers: [handleJob(definition, () => undefined)],
      ...steadyServer,
    });
    await server.start();
    await eventually(
      async () => total(await read({ queue })).done,
      (done) => done === 1,
    );
    await server.stop();
    const { waiting, running } = total(await read({ queue }));
    expect([waiting.total, running.total]).to.deep.equal([1, 1]);
  });

  for (const query of [
    { bucketMs: 90_000 },
    { bucketMs: 90 * minuteMs },
    { bucketMs: minuteMs, from: new Date(0) },
    { bucketMs: minuteMs, until: new Date(0) },
  ])
    it(`rejects what is not kept: ${JSON.stringify(query)}`, async () => {
      const span = { from: new Date(Date.now() - hourMs), until: new Date() };
      const refusal: unknown = await fixture.storage.timings
        .read({ ...span, ...query })
        .catch((reason: unknown) => reason);
      expect(refusal).to.be.instanceOf(RangeError);
    });
}

const error = { name: 'Error', message: 'no', stack: null };
