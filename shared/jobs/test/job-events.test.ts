import { eventually } from '@longshore/test-support';
import { expect } from 'chai';
import { type DeliveredEvent, type EventStream, JobEvents, MemoryStorage } from '../src/index.js';
import { type Claim, type FeedRequest, newId, type NewJob, topicOf } from '../src/storage.js';

/** Longer than any test takes, in milliseconds. */
const hourMs = 3_600_000;

describe('Job events', () => {
  let storage: MemoryStorage;
  let events: JobEvents;
  let serverId: string;

  beforeEach(async () => {
    let nowMs = Date.now();
    storage = new MemoryStorage({ clock: { now: () => ++nowMs } }); // gives each event a different time
    events = new JobEvents(storage, { pollIntervalMs: 5 });
    const server = { host: 'x', pid: 1, queues: ['default'], concurrency: 1, timeoutMs: 60_000 };
    ({ id: serverId } = await storage.servers.register(server));
  });
  afterEach(async () => {
    await events.close();
    await storage.close();
  });

  async function enqueue(job: Partial<NewJob> = {}): Promise<string> {
    const id = newId();
    const plain = { id, name: 'heard', queue: 'default', priority: 0, args: '{}', maxAttempts: 1, due: null };
    await storage.enqueuer.enqueue([{ ...plain, ...job }]);
    return id;
  }

  async function claim(queue = 'default'): Promise<Claim> {
    const [job] = await storage.claims.claim({ serverId, queue, limit: 1, leaseMs: 60_000 });
    if (job === undefined) throw new Error('There was nothing to claim');
    return job.claim;
  }

  const finish = (one: Claim): Promise<Claim[]> =>
    storage.completions.complete([{ claim: one, outcome: { kind: 'done', result: '7' } }]);

  async function run(job: Partial<NewJob> = {}): Promise<string> {
    const id = await enqueue(job);
    await finish(await claim(job.queue));
    return id;
  }

  /** Reads up to `count` events; fewer if the stream ends earlier. */
  async function take(stream: EventStream | null, count = Infinity): Promise<DeliveredEvent[]> {
    const heard: DeliveredEvent[] = [];
    for await (const each of stream ?? []) if (heard.push(each) >= count) break;
    return heard;
  }

  const states = (heard: readonly DeliveredEvent[]): string[] => heard.map(({ event }) => topicOf(event));

  describe('waiting for a job to end', () => {
    for (const [when, since] of [
      ['two thousand years ago', new Date('0001-01-01T00:00:00Z')],
      ['two days ago', new Date(Date.now() - 48 * hourMs)],
      ['in a year', new Date(Date.now() + 365 * 24 * hourMs)],
    ] as const)
      it(`start now for a listener whose position is ${when}`, async () => {
        await run();
        const asked: (Date | null)[] = [];
        const { feed } = storage;
        const read = feed.read.bind(feed);
        feed.read = (request) => {
          asked.push(request.from.since);
          return read(request);
        };
        const from = storage.clock.now();
        const stream = events.listen({ state: ['done'] }, since);
        const heard = new Set<string>();
        const listening = (async () => {
          for await (const { event } of stream) heard.add(event.jobId);
        })();
        await eventually(
          () => asked.length,
          (reads) => reads > 1,
        );
        const id = await run();
        await eventually(() => heard.has(id));
        await events.close();
        await listening;
        // To be sure, the reader goes back by up to a minute.
        for (const at of asked)
          if (at !== null) expect(at.getTime()).to.be.within(from - 60_000, storage.clock.now());
      });

    it('resolves when the job ends', async () => {
      const id = await enqueue();
      const ended = events.waitForEnd(id, hourMs);
      await finish(await claim());
      expect(await ended).to.include({ id, state: 'done', result: 7 });
    });

    it('resolves immediately if the job has ended', async () => {
      const id = await run();
      expect(await events.waitForEnd(id, hourMs)).to.include({ state: 'done' });
    });

    it('resolves to the current job after the timeout', async () => {
      const id = await enqueue();
      expect(await events.waitForEnd(id, 1)).to.include({ state: 'enqueued' });
    });

    it('resolves when the caller aborts', async () => {
      const id = await enqueue();
      const caller = new AbortController();
      const waiting = events.waitForEnd(id, hourMs, caller.signal);
      caller.abort();
      expect(await waiting).to.include({ state: 'enqueued' });
    });

    it('resolves when the process stops, as do later calls', async () => {
      const id = await enqueue();
      const waiting = events.waitForEnd(id, hourMs);
      await events.close();
      expect(await waiting).to.include({ state: 'enqueued' });
      expect(await events.waitForEnd(id, hourMs)).to.include({ state: 'enqueued' });
    });

    it('resolves to null if the job does not exist', async () => {
      expect(await events.waitForEnd(newId(), hourMs)).to.equal(null);
    });
  });

  describe('following a job', () => {
    it('delivers its past and future events until it ends', async () => {
      const id = await enqueue();
      const stream = await events.follow(id, null);
      const heard = take(stream);
      await finish(await claim());
      expect(states(await heard)).to.deep.equal(['enqueued', 'processing', 'done']);
    });

    it('delivers the progress and logs of its attempts before its end', async () => {
      const id = await enqueue();
      const one = await claim();
      const line = { line: 1, at: new Date(), level: 'info', message: 'Under way', fields: null } as const;
      await storage.reports.report([
        { claim: one, progress: { percent: 40, message: null, at: new Date() }, lines: [line] },
      ]);
      const heard = take(await events.follow(id, null));
      await storage.reports.report([
        { claim: one, progress: null, lines: [{ ...line, line: 2, message: 'Nearly' }] },
      ]);
      await finish(one);
      const said = (await heard).map(({ event }) =>
        event.kind === 'log' || event.kind === 'progress' ? event.message : event.state,
      );
      expect(said).to.deep.equal(['enqueued', 'processing', 'Under way', null, 'Nearly', 'done']);
    });

    it('is over for a listener that has received the end', async () => {
      const id = await run();
      const last = (await take(await events.follow(id, null))).at(-1);
      const again = await events.follow(id, last?.resumeAt ?? null);
      expect(again?.isOver).to.equal(true);
      expect(await take(again)).to.deep.equal([]);
    });

    it('resumes at the listener’s position', async () => {
      const id = await enqueue();
      const one = await claim();
      const heard = await take(await events.follow(id, null), 2);
      await finish(one);
      const rest = await take(await events.follow(id, heard.at(-1)?.resumeAt ?? null));
      expect(states(rest)).to.deep.equal(['processing', 'done']);
    });
  });

  describe('listening to all jobs', () => {
    it('delivers the events from now on', async () => {
      await run();
      const heard = take(events.listen({}, null), 3);
      const id = await run();
      expect((await heard).map(({ event }) => [event.jobId, topicOf(event)])).to.deep.equal([
        [id, 'enqueued'],
        [id, 'processing'],
        [id, 'done'],
      ]);
    });

    it('delivers only events that match the filter', async () => {
      const heard = take(events.listen({ queue: ['mail'], name: ['wanted'], state: ['done'] }, null), 1);
      await run({ name: 'other' });
      await run({ name: 'wanted' });
      await storage.servers.register({
        host: 'x',
        pid: 1,
        queues: ['mail'],
        concurrency: 1,
        timeoutMs: 60_000,
      });
      await run({ queue: 'mail' });
      const id = await run({ queue: 'mail', name: 'wanted' });
      expect((await heard).map(({ event }) => event.jobId)).to.deep.equal([id]);
    });

    it('misses nothing across a restart', async () => {
      const stream = events.listen({ state: ['done'] }, null);
      const first = take(stream, 2);
      const ids = [await run(), await run()];
      const place = (await first).at(-1)?.resumeAt ?? null;
      await events.close();
      ids.push(await run(), await run());
      const restarted = new JobEvents(storage, { pollIntervalMs: 5 });
      const rest = take(restarted.listen({ state: ['done'] }, place), 3);
      ids.push(await run());
      const heard = new Set([...(await first), ...(await rest)].map(({ event }) => event.jobId));
      expect([...heard].slice(0, 3)).to.deep.equal(ids.slice(0, 3));
      await restarted.close();
    });

    it('resumes at an old position by reading from the storage', async () => {
      const ids = [await run(), await run(), await run()];
      const heard = take(events.listen({ state: ['done'] }, new Date(Date.now() - hourMs)), 4);
      ids.push(await run());
      expect((await heard).map(({ event }) => event.jobId)).to.deep.equal(ids);
    });

    it('reports its position when all events have been taken', async () => {
      const stream = events.listen({ state: ['done'] }, null);
      const taken = take(stream, 1);
      await run();
      const [heard] = await taken;
      expect(stream.position()?.at.getTime()).to.be.at.least(heard?.resumeAt.at.getTime() ?? Infinity);
    });

    it('ends when the process stops', async () => {
      const heard = take(events.listen({}, null));
      await events.close();
      expect(await heard).to.deep.equal([]);
    });
  });

  it('reads the storage once for all listeners, and not at all without listeners', async () => {
    const reads: FeedRequest[] = [];
    const feed = {
      read: (request: FeedRequest) => {
        reads.push(request);
        return storage.feed.read(request);
      },
      readSettled: () => storage.feed.readSettled(),
      reportsOf: (id: string, since: Date, limit: number) => storage.feed.reportsOf(id, since, limit),
    };
    const counted = new JobEvents({ feed, jobs: storage.jobs }, { pollIntervalMs: hourMs });
    expect(reads).to.deep.equal([]);
    const id = await enqueue();
    const waiting = Array.from({ length: 500 }, () => counted.waitForEnd(id, 20));
    await Promise.all(waiting);
    expect(reads.length).to.be.within(1, 2);
    await counted.close();
  });
});
