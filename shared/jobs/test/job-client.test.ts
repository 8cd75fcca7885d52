import { during } from '@longshore/test-support';
import { expect } from 'chai';
import { defineJob, InvalidArgumentsError, JobClient, MemoryStorage } from '../src/index.js';
import { isId, newId } from '../src/storage.js';

describe('A job client', () => {
  const report = defineJob({ name: 'report', queue: 'reports', priority: 5 });
  let storage: MemoryStorage;
  let client: JobClient;

  beforeEach(() => {
    storage = new MemoryStorage();
    client = new JobClient(storage);
  });

  it('enqueues a job with the defaults of its definition', async () => {
    const { id } = await client.enqueue(report, {});
    expect(await storage.jobs.find(id)).to.include({
      name: 'report',
      queue: 'reports',
      priority: 5,
      maxAttempts: 10,
    });
  });

  it('lets the options override queue, priority and attempts', async () => {
    const { id, queue } = await client.enqueue(report, {}, { queue: 'urgent', priority: -1, maxAttempts: 1 });
    expect(queue).to.equal('urgent');
    expect(await storage.jobs.find(id)).to.include({ queue: 'urgent', priority: -1, maxAttempts: 1 });
  });

  it('rejects arguments that exceed its size limit', async () => {
    const frugal = new JobClient(storage, { maxArgsBytes: 20 });
    const message = 'args take 29 bytes as JSON; the limit is 20 (maxArgsBytes)';
    const problem = await frugal
      .enqueue(report, { text: 'longer than it may' })
      .catch((error: unknown) => error);
    expect(problem).to.be.instanceOf(InvalidArgumentsError).with.property('message', message);
  });

  it('rejects a timeout that is out of bounds', async () => {
    const problem = await client.enqueue(report, {}, { timeoutMs: 0 }).catch((error: unknown) => error);
    expect(problem).to.be.instanceOf(RangeError).with.property('message').that.contains('timeoutMs');
  });

  it('gives each job a version 7 UUID with the current time', async () => {
    const { result, from, until } = await during(() => client.enqueue(report, {}));
    const { id } = result;
    expect(isId(id)).to.equal(true);
    expect(id[14]).to.equal('7');
    const ms = Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);
    expect(new Date(ms)).to.be.within(from, until);
  });

  it('schedules a delayed job', async () => {
    const delayMs = 60_000;
    const { result, from, until } = await during(() => client.enqueue(report, {}, { delayMs }));
    const job = await storage.jobs.find(result.id);
    expect(job?.state).to.equal('scheduled');
    expect((job?.runAt?.getTime() ?? 0) - delayMs).to.be.within(from.getTime(), until.getTime());
  });

  it('enqueues a job with a delay of 0 as ready', async () => {
    const { id } = await client.enqueue(report, {}, { delayMs: 0 });
    expect((await storage.jobs.find(id))?.state).to.equal('enqueued');
  });

  const refused: [string, object, string][] = [
    ['a delay and a time', { delayMs: 1, runAt: new Date() }, 'not both'],
    ['a negative delay', { delayMs: -1 }, 'delayMs'],
    ['a delay beyond ten years', { delayMs: 315_360_000_001 }, 'from 0 to 315360000000 (ten years)'],
    ['a delay without end', { delayMs: Infinity }, 'delayMs'],
    ['a time that is none', { runAt: new Date(Number.NaN) }, 'an invalid Date'],
    ['a time before 1970', { runAt: new Date(-1) }, '1970-01-01T00:00:00Z to 9999'],
    ['a time after 9999', { runAt: new Date(253_402_300_800_000) }, '1970-01-01T00:00:00Z to 9999'],
    ['a priority below -100', { priority: -101 }, 'from -100 to 100'],
    ['a tag with a NUL', { tags: ['a\0b'] }, 'without NUL'],
    ['a key with half of a surrogate pair', { idempotencyKey: '\ud83d' }, 'without NUL'],
    ['a queue with a space', { queue: 'a b' }, 'is not a valid name for a queue'],
  ];
  for (const [what, options, message] of refused) {
    it(`rejects ${what} and stores nothing`, async () => {
      const error = await client.enqueue(report, {}, options).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(RangeError).with.property('message').that.contains(message);
      expect((await storage.jobs.count()).count).to.equal(0);
    });
  }

  it('enqueues none of several jobs if the arguments of one are invalid', async () => {
    const orders = [
      { definition: report, args: {} },
      { definition: report, args: { n: 1n } },
    ];
    expect(await client.enqueueMany(orders).catch((thrown: unknown) => thrown)).to.be.an('error');
    expect((await storage.jobs.count()).count).to.equal(0);
  });

  const refusalOf = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error);

  for (const [what, after] of [
    ['no parents', { parents: [] }],
    ['a parent that no job can be', { parents: ['yesterday'] }],
    ['a condition that there is not', { parents: [newId()], when: 'onSunday' as 'onDone' }],
  ] as const) {
    it(`rejects a job that depends on ${what}`, async () => {
      expect(await refusalOf(client.enqueue(report, {}, { after }))).to.be.instanceOf(RangeError);
    });
  }

  it('resolves parents given as indexes of earlier jobs in the call', async () => {
    const order = { definition: report, args: {} };
    const [first, second, last] = await client.enqueueMany([
      order,
      { ...order, options: { after: { parents: [0] } } },
      { ...order, options: { after: { parents: [1, 0, 1] } } },
    ]);
    expect(await storage.jobs.find(second?.id ?? '')).to.include({ state: 'awaiting', parentId: first?.id });
    expect(await storage.jobs.find(last?.id ?? '')).to.include({ state: 'awaiting', parentId: second?.id });
    expect(await storage.jobs.listContinuations(first?.id ?? '')).to.have.length(2);
  });

  for (const [what, parent] of [
    ['itself', 1],
    ['a later job', 2],
    ['a place that there is not', -1],
    ['half a place', 0.5],
  ] as const) {
    it(`rejects a job that depends, within its call, on ${what}`, async () => {
      const order = { definition: report, args: {} };
      const orders = [order, { ...order, options: { after: { parents: [parent] } } }, order];
      expect(await refusalOf(client.enqueueMany(orders))).to.be.instanceOf(RangeError);
      expect(await refusalOf(client.enqueueBatch({ jobs: orders }))).to.be.instanceOf(RangeError);
      expect((await storage.jobs.count()).count).to.equal(0);
    });
  }

  it('rejects an id among the options, because it generates the ids of jobs', async () => {
    const refused = await refusalOf(client.enqueue(report, {}, { id: newId() } as object));
    expect(refused).to.be.instanceOf(TypeError);
    expect((await storage.jobs.count()).count).to.equal(0);
  });

  it('returns the jobs and the callback of a batch', async () => {
    const order = { definition: report, args: {} };
    const batch = await client.enqueueBatch({ name: 'night', jobs: [order, order], callback: order });
    const ids = [...batch.jobs.map(({ id }) => id), batch.callback?.id ?? ''];
    const states = await Promise.all(ids.map(async (id) => (await storage.jobs.find(id))?.state));
    expect(states).to.deep.equal(['enqueued', 'enqueued', 'awaiting']);
  });

  it('rejects a batch with an invalid name', async () => {
    expect(await refusalOf(client.enqueueBatch({ name: '', jobs: [] }))).to.be.instanceOf(RangeError);
  });
});
