import { eventually } from '@longshore/test-support';
import { expect } from 'chai';
import { it } from 'mocha';
import type { JobError, JobEvent } from '@longshore/jobs';
import {
  type EventTopic,
  type FeedPage,
  type FeedPosition,
  type FeedRequest,
  finishedStates,
  jobStates,
  keyOf,
  newId,
  type Outcome,
  positionAt,
  type ReportPage,
  topicOf,
} from '@longshore/jobs/storage';
import { type Fixture, newJob, yearMs } from './storage-under-test.js';

const error: JobError = { name: 'Error', message: 'No wind', stack: null };
const done: Outcome = { kind: 'done', result: 'null' };

export function feeding(fixture: Fixture): void {
  async function start(): Promise<Date> {
    return fixture.storage.feed.readSettled();
  }

  async function eventsOf(
    queue: string,
    since: Date,
    topics: readonly EventTopic[] = jobStates,
  ): Promise<JobEvent[]> {
    return (
      await pagesOf({ from: positionAt(since), limit: 1_000, topics, filter: { queue: [queue] } })
    ).flat();
  }

  /** Reads page after page up to the present. Returns the events of each. */
  async function pagesOf(request: FeedRequest): Promise<JobEvent[][]> {
    const pages: JobEvent[][] = [];
    for (let from: FeedPosition | null = request.from; from !== null;) {
      const page: FeedPage = await fixture.storage.feed.read({ ...request, from });
      pages.push(page.events);
      from = page.next;
    }
    return pages;
  }

  /** Returns the messages of one job's log lines, page by page. */
  async function messagesOf(jobId: string, since: Date, limit = 100): Promise<string[][]> {
    const pages: string[][] = [];
    for (let from: Date | null = since; from !== null;) {
      const page: ReportPage = await fixture.storage.feed.reportsOf(jobId, from, limit);
      pages.push(page.events.map((event) => (event.kind === 'log' ? event.message : event.kind)));
      from = page.next;
    }
    return pages;
  }

  const course = (events: readonly JobEvent[]): string[] =>
    events.map((event) => `${topicOf(event)} ${event.attempt}`);

  it('contains the creation, the start and the end of a job', async () => {
    const since = await start();
    const { queue, claim } = await fixture.claimOne();
    expect(course(await eventsOf(queue, since))).to.deep.equal(['enqueued 0', 'processing 1']);
    await fixture.storage.completions.complete([{ claim, outcome: done }]);
    expect(course(await eventsOf(queue, since))).to.deep.equal(['enqueued 0', 'processing 1', 'done 1']);
  });

  it('identifies the job of each event', async () => {
    const since = await start();
    const queue = fixture.newQueue();
    const { id } = await fixture.enqueue(queue, {
      name: 'sail',
      meta: { tags: ['blue'], recurringJobId: 'tide' },
    });
    const [event] = await eventsOf(queue, since);
    expect(event).to.deep.include({ kind: 'state', jobId: id, name: 'sail', queue, tags: ['blue'] });
    expect(event).to.deep.include({ state: 'enqueued', batchId: null, recurringJobId: 'tide' });
  });

  it('contains jobs that start out waiting', async () => {
    const since = await start();
    const queue = fixture.newQueue();
    const parent = await fixture.enqueue(queue, { due: { inMs: yearMs } });
    await fixture.enqueue(queue, {
      after: { parents: [parent.id], when: 'onDone' },
      meta: { parentIds: [parent.id] },
    });
    expect(course(await eventsOf(queue, since))).to.have.members(['scheduled 0', 'awaiting 0']);
  });

  it('contains a failed attempt that will be retried', async () => {
    const since = await start();
    const { queue, claim } = await fixture.claimOne();
    await fixture.storage.completions.complete([
      { claim, outcome: { kind: 'retry', error, delayMs: yearMs } },
    ]);
    expect(course(await eventsOf(queue, since))).to.deep.equal(['enqueued 0', 'processing 1', 'scheduled 1']);
  });

  it('contains a lost attempt once the next one starts', async () => {
    const since = await start();
    const { queue, claim } = await fixture.claimOne();
    await fixture.silence(claim.serverId);
    await fixture.storage.maintenance.rescue();
    const { id } = await fixture.register(queue);
    await fixture.claim(id, queue);
    expect(course(await eventsOf(queue, since))).to.deep.equal([
      'enqueued 0',
      'processing 1',
      'enqueued 1',
      'processing 2',
    ]);
  });

  it('contains the cancellation of a job before its first attempt', async () => {
    const since = await start();
    const queue = fixture.newQueue();
    const { id } = await fixture.enqueue(queue);
    await fixture.storage.control.cancel(id);
    expect(course(await eventsOf(queue, since))).to.deep.equal(['enqueued 0', 'cancelled 0']);
  });

  it('contains only the requested states', async () => {
    const since = await start();
    const { queue, claim } = await fixture.claimOne();
    await fixture.storage.completions.complete([{ claim, outcome: { kind: 'failed', error } }]);
    expect(course(await eventsOf(queue, since, finishedStates))).to.deep.equal(['failed 1']);
    expect(course(await eventsOf(queue, since, ['processing']))).to.deep.equal(['processing 1']);
    expect(course(await eventsOf(queue, since, ['done']))).to.deep.equal([]);
  });

  it('contains progress and log lines', async () => {
    const since = await start();
    const { queue, claim } = await fixture.claimOne({ meta: { tags: ['blue'] } });
    const progress = { percent: 12.5, message: 'Casting off', at: new Date() };
    const line = { line: 1, at: new Date(), level: 'warn', message: 'Fog', fields: '{"miles":1}' } as const;
    await fixture.storage.reports.report([{ claim, progress, lines: [line] }]);
    const [log, said] = (await eventsOf(queue, since, ['progress', 'log'])).toSorted((one, other) =>
      topicOf(one) < topicOf(other) ? -1 : 1,
    );
    const subject = { jobId: claim.jobId, name: 'work', queue, attempt: 1, tags: ['blue'] };
    expect(said).to.deep.include({ kind: 'progress', ...subject, percent: 12.5, message: 'Casting off' });
    expect(log).to.deep.include({
      kind: 'log',
      ...subject,
      level: 'warn',
      message: 'Fog',
      fields: { miles: 1 },
    });
    const [written] = await fixture.storage.reports.listLogs(claim.jobId);
    expect(log).to.include({ line: written?.id });
  });

  it('contains no reports that are only due to an operator’s move', async () => {
    const since = await start();
    const queue = fixture.newQueue();
    const { id } = await fixture.enqueue(queue);
    await fixture.storage.control.cancel(id);
    await fixture.storage.control.retry(id);
    expect(await eventsOf(queue, since, ['progress', 'log'])).to.deep.equal([]);
    expect(await messagesOf(id, since)).to.deep.equal([[]]);
  });

  it('returns what the attempts of one job reported, even after it ended', async () => {
    const since = await start();
    const { claim } = await fixture.claimOne();
    const line = { line: 1, at: new Date(), level: 'info', message: 'Land', fields: null } as const;
    await fixture.storage.reports.report([{ claim, progress: null, lines: [line] }]);
    await fixture.storage.completions.complete([{ claim, outcome: done }]);
    expect(await messagesOf(claim.jobId, since)).to.deep.equal([['Land']]);
    expect(await messagesOf(newId(), since)).to.deep.equal([[]]);
  });

  it('returns the reports of one job in pages, with each report once', async () => {
    const since = await start();
    const { claim } = await fixture.claimOne();
    const messages = Array.from({ length: 12 }, (_, index) => `Line ${index + 1}`);
    for (const [index, message] of messages.entries()) {
      const line = { line: index + 1, at: new Date(), level: 'info', message, fields: null } as const;
      await fixture.storage.reports.report([{ claim, progress: null, lines: [line] }]);
    }
    const pages = await messagesOf(claim.jobId, since, 5);
    expect(pages.flat()).to.deep.equal(messages);
    expect(pages.length).to.be.greaterThan(1);
  });

  it('returns pages of a few entries, which together contain every event', async () => {
    const since = await start();
    const queue = fixture.newQueue();
    const jobs = Array.from({ length: 25 }, () => newJob(queue));
    await fixture.storage.enqueuer.enqueue(jobs); // all of them have the same time
    const { id: serverId } = await fixture.register(queue);
    const claims = (await fixture.claim(serverId, queue, 20)).map(({ claim }) => claim);
    await fixture.storage.completions.complete(claims.slice(5).map((claim) => ({ claim, outcome: done })));
    const pages = await pagesOf({
      from: positionAt(since),
      limit: 4,
      topics: jobStates,
      filter: { queue: [queue] },
    });
    const counts = new Map<string, number>();
    for (const key of new Set(pages.flat().map(keyOf))) {
      const [, topic = ''] = key.split(' ');
      counts.set(topic, (counts.get(topic) ?? 0) + 1);
    }
    expect(Object.fromEntries(counts)).to.deep.equal({ enqueued: 25, processing: 20, done: 15 });
    // A page has at most four entries of each of four kinds, with at most three events each.
    for (const page of pages) expect(page.length).to.be.at.most(48);
  });

  it('contains the start of a job that has ended since, in a later page', async () => {
    const since = await start();
    const { queue, claim } = await fixture.claimOne();
    const others = Array.from({ length: 6 }, () => newJob(queue));
    await fixture.storage.enqueuer.enqueue(others);
    const claimed = await fixture.claim(claim.serverId, queue, 6);
    await fixture.storage.completions.complete(claimed.map((one) => ({ claim: one.claim, outcome: done })));
    const request = { limit: 2, topics: ['processing'], filter: { queue: [queue] } } as const;
    const first = await fixture.storage.feed.read({ ...request, from: positionAt(since) });
    await fixture.storage.completions.complete([{ claim, outcome: done }]);
    const rest = first.next === null ? [] : await pagesOf({ ...request, from: first.next });
    expect([...first.events, ...rest.flat()].map(({ jobId }) => jobId)).to.include.members([
      claim.jobId,
      ...others.map(({ id }) => id),
    ]);
  });

  for (const [member, value] of [
    ['name', 'sail'],
    ['tag', 'blue'],
    ['batchId', newId()],
    ['recurringJobId', 'tide'],
  ] as const)
    it(`contains only events of jobs with the requested ${member}`, async () => {
      const since = await start();
      const queue = fixture.newQueue();
      const meta = {
        ...(member === 'tag' && { tags: ['red', value] }),
        ...(member === 'batchId' && { batchId: value }),
        ...(member === 'recurringJobId' && { recurringJobId: value }),
      };
      const wanted = { ...newJob(queue), meta, ...(member === 'name' && { name: value }) };
      const waiting = { ...wanted, id: newId(), due: { inMs: yearMs } };
      const cancelled = { ...wanted, id: newId() };
      const other = {
        ...newJob(queue),
        name: 'row',
        meta: { tags: ['green'], recurringJobId: 'ebb' },
      };
      await fixture.storage.enqueuer.enqueue([wanted, waiting, cancelled, other]);
      await fixture.storage.control.cancel(cancelled.id);
      const pages = await pagesOf({
        from: positionAt(since),
        limit: 10,
        topics: jobStates,
        filter: { queue: [queue], [member]: ['other', value] },
      });
      const told = pages.flat().map((event) => [event.jobId, topicOf(event)]);
      expect(told).to.have.deep.members([
        [wanted.id, 'enqueued'],
        [waiting.id, 'scheduled'],
        [cancelled.id, 'enqueued'],
        [cancelled.id, 'cancelled'],
      ]);
    });

  it('contains every end across consecutive reads, and stops repeating events', async () => {
    const queue = fixture.newQueue();
    const jobs = Array.from({ length: 40 }, () => fixture.enqueue(queue));
    const ids = (await Promise.all(jobs)).map(({ id }) => id);
    const { id: serverId } = await fixture.register(queue);
    let since = await start();
    const ended = new Map<string, number>();
    const read = async (): Promise<void> => {
      const request = { limit: 1_000, topics: finishedStates, filter: { queue: [queue] } };
      const page = await fixture.storage.feed.read({ ...request, from: positionAt(since) });
      since = page.settled;
      for (const { jobId } of page.events) ended.set(jobId, (ended.get(jobId) ?? 0) + 1);
    };
    for (let left = ids.length; left > 0; left -= 5) {
      const claimed = await fixture.claim(serverId, queue, 5);
      await Promise.all([
        ...claimed.map(({ claim }) => fixture.storage.completions.complete([{ claim, outcome: done }])),
        read(),
      ]);
    }
    await read();
    expect([...ended.keys()]).to.include.members(ids);
    const total = (): number => [...ended.values()].reduce((sum, times) => sum + times, 0);
    await eventually(
      async () => {
        const before = total();
        await read();
        return total() - before;
      },
      (repeated) => repeated === 0,
    );
  });

  it('does not exceed the requested span', async () => {
    const since = await start();
    const { queue, claim } = await fixture.claimOne();
    await fixture.storage.completions.complete([{ claim, outcome: done }]);
    const at = (await fixture.storage.jobs.find(claim.jobId))?.finishedAt ?? since;
    const long = new Date(at.getTime() - 3_600_000);
    const page = await fixture.storage.feed.read({
      from: positionAt(long),
      spanMs: 1_800_000,
      limit: 1_000,
      topics: jobStates,
      filter: { queue: [queue] },
    });
    const end = new Date(long.getTime() + 1_800_000);
    expect(page.next).to.deep.equal({ ...positionAt(end), since: long });
    expect(page.events).to.deep.equal([]);
  });
}
