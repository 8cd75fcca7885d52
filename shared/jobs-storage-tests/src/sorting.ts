import { defineJob, type EnqueueOptions, type Job, JobClient } from '@longshore/jobs';
import {
  comparePlaces,
  type JobFilter,
  type JobOrder,
  type JobOrderMember,
  jobOrderMembers,
  placeOf,
  type ServerRegistration,
  type SortedJobsQuery,
} from '@longshore/jobs/storage';
import { expect } from 'chai';
import { after, before, it } from 'mocha';
import { type Fixture, hourMs, yearMs } from './storage-under-test.js';

const work = defineJob({ name: 'work' });

/** Defines the tests of lists that are sorted, or filtered, by what changes while jobs live. */
export function sorting(fixture: Fixture): void {
  let queue: string;
  let all: readonly Job[];
  let server: ServerRegistration;

  before(async () => {
    queue = fixture.newQueue();
    const client = new JobClient(fixture.storage);
    const enqueue = async (options: Omit<EnqueueOptions, 'queue'> = {}): Promise<string> =>
      (await client.enqueue(work, {}, { queue, ...options })).id;
    const key = (name: string): EnqueueOptions => ({ concurrency: { key: name, limit: 9 } });
    server = await fixture.storage.servers.register({
      host: 'sorting',
      pid: process.pid,
      queues: [queue],
      concurrency: 9,
      timeoutMs: hourMs,
    });
    for (const options of [{}, { priority: 7 }, { priority: -3 }, {}, {}, key('B')]) await enqueue(options);
    while ((await fixture.storage.maintenance.resolveDependencies(100)) > 0);
    const early = await fixture.claimSome(server.id, queue, 3);
    await fixture.untilAfter((await fixture.storage.jobs.find(early[0].claim.jobId))?.startedAt);
    const claimed = [...early, ...(await fixture.claimSome(server.id, queue, 3))];
    const [first, second, third, fourth] = claimed.map(({ claim }) => claim);
    if (first === undefined || second === undefined || third === undefined || fourth === undefined)
      throw new Error('There was nothing to claim');
    const done = { kind: 'done', result: 'null' } as const;
    const error = { name: 'Error', message: 'no', stack: null };
    await fixture.storage.completions.complete([{ claim: second, outcome: done }]);
    await fixture.storage.completions.complete([
      { claim: fourth, outcome: done },
      { claim: first, outcome: done },
    ]);
    await fixture.storage.completions.complete([{ claim: third, outcome: { kind: 'failed', error } }]);
    const soon = Date.now() + hourMs;
    for (const [index, name] of ['b', '10', '9', 'ä', 'a'].entries())
      await enqueue({
        ...key(name),
        runAt: new Date(soon + ((index * 7) % 5) * hourMs),
        priority: index - 2,
      });
    const parent = await enqueue({ delayMs: yearMs });
    await enqueue({ after: { parents: [parent] }, delayMs: 5 });
    await enqueue({ after: { parents: [parent] }, runAt: new Date(soon) });
    for (let n = 0; n < 4; n++) await enqueue({ priority: 2 - n });
    await fixture.storage.control.cancel(await enqueue({ runAt: new Date(soon + 9 * hourMs) }));
    all = await fixture.storage.jobs.list({ filter: { queue: [queue] }, limit: 100 });
    expect(new Set(all.map(({ state }) => state))).to.have.property('size', 7);
  });

  after(() => server.unregister());

  const page = async (query: Omit<SortedJobsQuery, 'maxBytes' | 'filter'>): Promise<Job[]> => {
    const filter = { queue: [queue] };
    const { jobs, partial } = await fixture.storage.jobs.listSorted({ ...query, filter, maxBytes: Infinity });
    expect(partial).to.equal(false);
    return jobs;
  };

  const walk = async (order: JobOrder, reversed: boolean): Promise<Job[]> => {
    const jobs: Job[] = [];
    for (;;) {
      const last = jobs.at(-1);
      const after = last === undefined ? {} : { after: placeOf(last, order) };
      const next = await page({ order, reversed, limit: 3, ...after });
      if (next.length === 0) return jobs;
      jobs.push(...next);
    }
  };

  const members: readonly JobOrderMember[] = jobOrderMembers;
  const orders = members
    .filter((member) => member !== 'id')
    .flatMap((by) => [false, true].map((descending) => [by, descending] as const));
  for (const [by, descending] of orders) sortedBy(by, descending);

  function sortedBy(by: JobOrderMember, descending: boolean): void {
    const order: JobOrder = [
      { by, descending },
      { by: 'id', descending },
    ];
    const word = descending ? 'descending' : 'ascending';

    it(`lists jobs by ${by}, ${word}, those without a value last`, async () => {
      const jobs = await page({ order, limit: 100 });
      expect(jobs.map(({ id }) => id)).to.have.members(all.map(({ id }) => id));
      const wrong = jobs.filter((job, index) => {
        const next = jobs[index + 1];
        const lead = order.slice(0, 1);
        return next !== undefined && comparePlaces(placeOf(job, lead), placeOf(next, lead), lead) > 0;
      });
      expect(wrong).to.deep.equal([]);
    });

    it(`visits each job once by ${by}, ${word}, page by page and in both directions`, async () => {
      const ids = (await page({ order, limit: 100 })).map(({ id }) => id);
      expect((await walk(order, false)).map(({ id }) => id)).to.deep.equal(ids);
      expect((await walk(order, true)).map(({ id }) => id)).to.deep.equal(ids.toReversed());
      expect((await page({ order, limit: 4, offset: 5 })).map(({ id }) => id)).to.deep.equal(ids.slice(5, 9));
    });
  }

  it('lists jobs by several members', async () => {
    const order: JobOrder = [
      { by: 'priority', descending: true },
      { by: 'runAt', descending: false },
      { by: 'id', descending: true },
    ];
    const sorted = all.toSorted((one, other) =>
      comparePlaces(placeOf(one, order), placeOf(other, order), order),
    );
    const jobs = await walk(order, false);
    expect(jobs.map(({ id }) => id)).to.deep.equal(sorted.map(({ id }) => id));
  });

  it('lists jobs that match a filter, with or without their documents', async () => {
    const filter = { queue: [queue], state: ['done', 'scheduled'] as const };
    const order = [{ by: 'finishedAt', descending: true } as const, { by: 'id', descending: true } as const];
    const query = { filter, order, limit: 100, maxBytes: Infinity };
    const { jobs } = await fixture.storage.jobs.listSorted(query);
    const matching = all.filter(({ state }) => state === 'done' || state === 'scheduled');
    expect(jobs.map(({ id }) => id)).to.have.members(matching.map(({ id }) => id));
    expect(jobs.map(({ args }) => args)).to.deep.equal(jobs.map(() => ({})));
    const bare = await fixture.storage.jobs.listSorted({ ...query, documents: false });
    expect(bare.jobs.map(({ args }) => args)).to.deep.equal(jobs.map(() => null));
  });

  it('continues after a job that has moved since', async () => {
    const own = fixture.newQueue();
    for (let n = 0; n < 3; n++)
      await fixture.enqueue(own, { due: { at: new Date(Date.now() + yearMs + n) } });
    const order: JobOrder = [
      { by: 'runAt', descending: false },
      { by: 'id', descending: false },
    ];
    const query = { filter: { queue: [own] }, order, maxBytes: Infinity };
    const [first] = (await fixture.storage.jobs.listSorted({ ...query, limit: 1 })).jobs;
    if (first === undefined) throw new Error('There is no job');
    await fixture.storage.control.cancel(first.id);
    await fixture.storage.control.delete(first.id);
    const { jobs } = await fixture.storage.jobs.listSorted({
      ...query,
      limit: 9,
      after: placeOf(first, order),
    });
    expect(jobs).to.have.length(2);
  });

  const middle = (member: 'startedAt' | 'runAt' | 'finishedAt'): Date => {
    const times = all
      .flatMap((job) => job[member] ?? [])
      .toSorted((one, other) => Number(one) - Number(other));
    return times[Math.floor(times.length / 2)] ?? new Date(0);
  };
  const isFrom = (time: Date | null, from: Date): boolean => time !== null && time >= from;
  const isBefore = (time: Date | null, to: Date): boolean => time !== null && time < to;
  const filters: readonly [string, () => JobFilter, (job: Job) => boolean][] = [
    [
      'startedAfter',
      () => ({ startedAfter: middle('startedAt') }),
      (job) => isFrom(job.startedAt, middle('startedAt')),
    ],
    [
      'startedBefore',
      () => ({ startedBefore: middle('startedAt') }),
      (job) => isBefore(job.startedAt, middle('startedAt')),
    ],
    [
      'startedBefore, later',
      () => ({ startedBefore: new Date(Date.now() + yearMs) }),
      (job) => job.startedAt !== null,
    ],
    ['dueAfter', () => ({ dueAfter: middle('runAt') }), (job) => isFrom(job.runAt, middle('runAt'))],
    ['dueBefore', () => ({ dueBefore: middle('runAt') }), (job) => isBefore(job.runAt, middle('runAt'))],
    [
      'finishedAfter',
      () => ({ finishedAfter: middle('finishedAt') }),
      (job) => isFrom(job.finishedAt, middle('finishedAt')),
    ],
    ['priority', () => ({ priority: [2, -3] }), (job) => [2, -3].includes(job.priority)],
    [
      'concurrencyKey',
      () => ({ concurrencyKey: ['a', 'B'] }),
      (job) => ['a', 'B'].includes(job.concurrencyKey ?? ''),
    ],
  ];
  for (const [name, filter, matches] of filters) filteredBy(name, filter, matches);

  function filteredBy(name: string, filter: () => JobFilter, matches: (job: Job) => boolean): void {
    it(`finds and counts jobs by ${name}`, async () => {
      const wanted = { queue: [queue], ...filter() };
      const found = await fixture.storage.jobs.list({ filter: wanted, limit: 100 });
      const ids = all.filter(matches).map(({ id }) => id);
      expect(found.map(({ id }) => id)).to.have.members(ids);
      expect(ids).to.have.length.above(0);
      expect(await fixture.storage.jobs.count(wanted)).to.deep.equal({ count: ids.length, exact: true });
    });
  }
}
