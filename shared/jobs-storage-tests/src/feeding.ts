import { eventually } from '@longshore/test-support';
import { expect } from 'chai';
import { it } from 'mocha';
import type { JobError, JobEvent } from '@longshore/jobs';
import {
  type EventTopic,
  finishedStates,
  jobStates,
  newId,
  type Outcome,
  topicOf,
} from '@longshore/jobs/storage';
import { type Fixture, yearMs } from './storage-under-test.js';

const error: JobError = { name: 'Error', message: 'No wind', stack: null };
const done: Outcome = { kind: 'done', result: 'null' };

export function feeding(fixture: Fixture): void {
  async function start(): Promise<Date> {
    return (await fixture.storage.feed.read({ since: null, topics: [] })).resumeAt;
  }

  async function eventsOf(
    queue: string,
    since: Date,
    topics: readonly EventTopic[] = jobStates,
  ): Promise<JobEvent[]> {
    const { events } = await fixture.storage.feed.read({ since, topics });
    return events.filter((event) => event.queue === queue);
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
    expect(await fixture.storage.feed.reportsOf(id, since)).to.deep.equal([]);
  });

  it('returns what the attempts of one job reported, even after it ended', async () => {
    const since = await start();
    const { claim } = await fixture.claimOne();
    const line = { line: 1, at: new Date(), level: 'info', message: 'Land', fields: null } as const;
    await fixture.storage.reports.report([{ claim, progress: null, lines: [line] }]);
    await fixture.storage.completions.complete([{ claim, outcome: done }]);
    const said = await fixture.storage.feed.reportsOf(claim.jobId, since);
    expect(said.map((event) => (event.kind === 'log' ? event.message : event.kind))).to.deep.equal(['Land']);
    expect(await fixture.storage.feed.reportsOf(newId(), since)).to.deep.equal([]);
  });

  it('contains every end across consecutive reads, and stops repeating events', async () => {
    const queue = fixture.newQueue();
    const jobs = Array.from({ length: 40 }, () => fixture.enqueue(queue));
    const ids = (await Promise.all(jobs)).map(({ id }) => id);
    const { id: serverId } = await fixture.register(queue);
    let since = await start();
    const ended = new Map<string, number>();
    const read = async (): Promise<void> => {
      const page = await fixture.storage.feed.read({ since, topics: finishedStates });
      since = page.resumeAt;
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
    const page = await fixture.storage.feed.read({ since: long, spanMs: 1_800_000, topics: jobStates });
    expect(page).to.deep.include({ caughtUp: false, resumeAt: new Date(long.getTime() + 1_800_000) });
    expect(page.events.filter((event) => event.queue === queue)).to.deep.equal([]);
  });
}
