import { expect } from 'chai';
import { it } from 'mocha';
import type { Job } from '@longshore/jobs';
import { type EditResult, type JobContent, newId, type NewJob } from '@longshore/jobs/storage';
import { childOf } from './dependent-job.js';
import { type Fixture, moveJob, newJob, yearMs } from './storage-under-test.js';

const usual = '{"n":1}';
const later = new Date('2100-01-01T00:00:00Z');

export function editing(fixture: Fixture): void {
  const find = async (id: string): Promise<Job | null> => fixture.storage.jobs.find(id);

  const edit = async (ids: readonly string[], change: Partial<JobContent>): Promise<Job[]> =>
    fixture.storage.control.edit(ids, async (current) => {
      const contents = [...current].map(([id, { queue, priority, args, runAt }]) => {
        const content = { queue, priority, args: JSON.stringify(args), runAt, ...change };
        return [id, content] as const;
      });
      return new Map(contents);
    });

  const states: readonly [state: string, make: (queue: string, args?: string) => Promise<NewJob>][] = [
    ['enqueued', (queue, args = usual) => fixture.enqueue(queue, { args })],
    [
      'scheduled',
      (queue, args = usual) =>
        fixture.enqueue(queue, { args, due: { at: new Date('2090-01-01T00:00:00Z') } }),
    ],
    [
      'awaiting',
      async (queue, args = usual) => {
        const { id } = await fixture.enqueue(queue);
        return fixture.enqueue(queue, { args, ...childOf([id]) });
      },
    ],
  ];

  it('rejects edits with more than 16 MiB of arguments in total, and says what to do', async () => {
    const queue = fixture.newQueue();
    const args = JSON.stringify({ text: 'x'.repeat(6 * 1024 * 1024) });
    const jobs = [
      await fixture.enqueue(queue, { args }),
      await fixture.enqueue(queue, { args }),
      await fixture.enqueue(queue, { args }),
    ];
    const ids = jobs.map(({ id }) => id);
    const error = await edit(ids, { priority: 3 }).catch((thrown: unknown) => thrown);
    expect(String(error)).to.match(/^RangeError: These 3 jobs have .* edit fewer jobs at a time$/);
    expect((await edit(ids.slice(0, 2), { priority: 3 })).map(({ priority }) => priority)).to.deep.equal([
      3, 3,
    ]);
  });

  it('keeps the rest of the metadata when the tags are changed', async () => {
    const meta = { tags: ['old'], concurrencyKey: 'tenant', concurrencyLimit: 3, recurringJobId: 'nightly' };
    const { id } = await fixture.enqueue(fixture.newQueue(), { meta });
    const before = await find(id);
    for (const tags of [['new'], []])
      expect((await edit([id], { tags }))[0]).to.deep.equal({ ...before, tags });
  });

  it('gives a job no fewer attempts than it has had, nor more than possible', async () => {
    const { claim } = await fixture.claimOne({ maxAttempts: 5 });
    const outcome = {
      kind: 'retry',
      error: { name: 'E', message: '', stack: null },
      delayMs: yearMs,
    } as const;
    await fixture.storage.completions.complete([{ claim, outcome }]);
    for (const maxAttempts of [0, 1, 1.5, 1_001]) {
      const error = await edit([claim.jobId], { maxAttempts }).catch((thrown: unknown) => thrown);
      expect(error, String(maxAttempts)).to.be.instanceOf(RangeError);
    }
    expect((await edit([claim.jobId], { maxAttempts: 2 }))[0]).to.include({ maxAttempts: 2, attempt: 1 });
  });

  it('refuses tags that are too long or too many', async () => {
    const { id } = await fixture.enqueue(fixture.newQueue());
    for (const tags of [[''], ['x'.repeat(101)], Array.from({ length: 21 }, (_, n) => `t${n}`)]) {
      const error = await edit([id], { tags }).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(RangeError);
    }
  });

  it('writes the audit entry of an edit with the jobs before and after', async () => {
    const { id } = await fixture.enqueue(fixture.newQueue(), { meta: { tags: ['old'] } });
    const decide = async (current: ReadonlyMap<string, Job>) =>
      new Map(
        [...current].map(([each, { queue, priority, args, runAt }]) => [
          each,
          { queue, priority, args: JSON.stringify(args), runAt, tags: ['new'] },
        ]),
      );
    const audit = ({ before, jobs }: EditResult) => ({
      who: 'ann',
      action: 'jobs/edit',
      target: id,
      count: jobs.length,
      filter: { before: before.get(id)?.tags ?? null, after: jobs[0]?.tags ?? null },
    });
    await fixture.storage.control.edit([id], decide, { audit });
    const [entry] = await fixture.storage.audit.list({ target: id, limit: 1 });
    expect(entry).to.deep.include({ count: 1, filter: { before: ['old'], after: ['new'] } });
  });

  it('knows no jobs in queues that the caller cannot see, not even their size', async () => {
    const args = JSON.stringify({ text: 'x'.repeat(9 * 1024 * 1024) });
    const hidden = [
      await fixture.enqueue(fixture.newQueue(), { args }),
      await fixture.enqueue(fixture.newQueue(), { args }),
    ];
    const queue = fixture.newQueue();
    const { id } = await fixture.enqueue(queue);
    const seen: string[] = [];
    const decide = async (current: ReadonlyMap<string, Job>) => {
      seen.push(...current.keys());
      return new Map<string, JobContent>();
    };
    const ids = [...hidden.map((job) => job.id), id];
    await fixture.storage.control.edit(ids, decide, { visibleQueues: [queue] });
    expect(seen).to.deep.equal([id]);
  });

  it('counts the results of jobs towards this limit', async () => {
    const result = JSON.stringify({ text: 'x'.repeat(9 * 1024 * 1024) });
    const claims = [(await fixture.claimOne()).claim, (await fixture.claimOne()).claim];
    await fixture.storage.completions.complete(
      claims.map((claim) => ({ claim, outcome: { kind: 'done', result } })),
    );
    const ids = claims.map(({ jobId }) => jobId);
    const error = await edit(ids, { priority: 3 }).catch((thrown: unknown) => thrown);
    expect(String(error)).to.match(/^RangeError: These 2 jobs have \d+ bytes of arguments and results,/);
  });

  for (const [state, make] of states) {
    it(`changes arguments and priority of a job that is ${state}, and nothing else`, async () => {
      const { id } = await make(fixture.newQueue());
      const before = await find(id);
      const [edited] = await edit([id], { priority: -3, args: '{"n":2}' });
      expect(edited).to.deep.equal({ ...before, priority: -3, args: { n: 2 } });
      expect(await find(id)).to.deep.equal(edited);
    });

    it(`changes the tags and the attempts of a job that is ${state}, and nothing else`, async () => {
      const queue = fixture.newQueue();
      const { id } = await make(queue);
      const before = await find(id);
      const [edited] = await edit([id], { tags: ['new', 'other', 'new'], maxAttempts: 77 });
      expect(edited).to.deep.equal({ ...before, tags: ['new', 'other'], maxAttempts: 77 });
      expect(await find(id)).to.deep.equal(edited);
      await edit([id], { tags: ['newer'] });
      const found = async (tag: string): Promise<unknown[]> =>
        (await fixture.storage.jobs.list({ filter: { queue: [queue], tag: [tag] }, limit: 2 })).map(
          (job) => job.id,
        );
      expect([await found('newer'), await found('new')]).to.deep.equal([[id], []]);
      await edit([id], { tags: [] });
      expect(await find(id)).to.deep.equal({ ...before, tags: [], maxAttempts: 77 });
    });

    it(`changes tags and attempts of a job that is ${state} together with its queue`, async () => {
      const { id } = await make(fixture.newQueue());
      const queue = fixture.newQueue();
      const [edited] = await edit([id], { queue, tags: ['moved'], maxAttempts: 78 });
      expect(edited).to.deep.include({ queue, tags: ['moved'], maxAttempts: 78 });
      expect(await find(id)).to.deep.equal(edited);
    });

    it(`moves a job that is ${state} to another queue, where it is counted`, async () => {
      const [from, to] = [fixture.newQueue(), fixture.newQueue()];
      const { id } = await make(from);
      const [edited] = await edit([id], { queue: to });
      expect(edited).to.include({ queue: to, state });
      const count = async (queue: string): Promise<number> =>
        (await fixture.storage.jobs.count({ queue: [queue], state: [edited?.state ?? 'done'] })).count;
      expect(await count(to)).to.equal(1);
      expect((await fixture.jobsOf(from)).map((job) => job.id)).not.to.include(id);
      expect((await fixture.jobsOf(to)).map((job) => job.id)).to.deep.equal([id]);
    });
  }

  for (const [state, make] of states) {
    it(`keeps the digits of unchanged arguments of a job that is ${state}`, async () => {
      const { id } = await make(fixture.newQueue(), '{"n":12345678901234567890,"m":1}');
      const argsOf = async (): Promise<string> =>
        ((await fixture.storage.jobs.findDocuments(id))?.args ?? '').replaceAll(' ', '');
      await edit([id], { priority: 5 });
      expect(await argsOf()).to.contain('"n":12345678901234567890');
      await edit([id], { queue: fixture.newQueue() });
      expect(await argsOf()).to.contain('"n":12345678901234567890');
      await edit([id], { args: '{"n":12345678901234567000,"m":2}' });
      expect(await argsOf())
        .to.contain('"n":12345678901234567890')
        .and.to.contain('"m":2');
      await edit([id], { args: '{"n":12345678901234567891,"m":2}' });
      expect(await argsOf()).to.contain('"n":12345678901234567891');
    });
  }

  it('keeps a formerly scheduled job ready when it is moved', async () => {
    const { id } = await fixture.enqueue(fixture.newQueue(), { due: { inMs: 0.25 } });
    await fixture.untilPromoted(id);
    const [moved] = await edit([id], { queue: fixture.newQueue() });
    expect(moved).to.include({ state: 'enqueued' });
  });

  it('keeps logs, progress and transitions of a moved job', async () => {
    const { queue, claim } = await fixture.claimOne();
    const line = { line: 1, at: new Date(), level: 'info', message: 'tried', fields: null } as const;
    const progress = { percent: 50, message: 'half', at: new Date() };
    await fixture.storage.reports.report([{ claim, progress, lines: [line] }]);
    const error = { name: 'Error', message: 'no', stack: null };
    await fixture.storage.completions.complete([
      { claim, outcome: { kind: 'retry', error, delayMs: yearMs } },
    ]);
    await fixture.storage.control.reschedule(claim.jobId, later);
    const said = async (): Promise<unknown> => [
      await fixture.storage.reports.listLogs(claim.jobId),
      await fixture.storage.reports.countLogs(claim.jobId),
      await fixture.storage.reports.listTransitions(claim.jobId),
      (await fixture.storage.feed.reportsOf(claim.jobId, new Date(0), 10)).events.map(({ kind }) => kind),
    ];
    const before = await said();
    await moveJob(fixture.storage, claim.jobId, fixture.newQueue());
    expect(await said()).to.deep.equal(before);
    await moveJob(fixture.storage, claim.jobId, queue);
    expect(await said()).to.deep.equal(before);
  });

  it('lets servers of the new queue claim a moved job', async () => {
    const [from, to] = [fixture.newQueue(), fixture.newQueue()];
    const { id } = await fixture.enqueue(from);
    await edit([id], { queue: to, args: '{"n":7}' });
    const { id: serverId } = await fixture.register(to);
    const [claimed] = await fixture.claim(serverId, to);
    expect(claimed).to.deep.include({ args: { n: 7 } });
    expect(await fixture.claim(serverId, from)).to.deep.equal([]);
  });

  it('runs a moved job when its parent is done', async () => {
    const [from, to] = [fixture.newQueue(), fixture.newQueue()];
    const parent = await fixture.claimOne({ queue: from });
    const child = await fixture.enqueue(from, childOf([parent.claim.jobId]));
    await edit([child.id], { queue: to });
    await fixture.storage.completions.complete([
      { claim: parent.claim, outcome: { kind: 'done', result: 'null' } },
    ]);
    while ((await fixture.storage.maintenance.resolveDependencies(100)) > 0);
    expect(await find(child.id)).to.include({ queue: to, state: 'enqueued' });
  });

  for (const state of ['enqueued', 'scheduled'] as const) {
    it(`lets a job that was moved while it was ${state} wait for its parent again, and run after it`, async () => {
      const { control, completions, maintenance } = fixture.storage;
      const parent = await fixture.claimOne();
      const { id } = await fixture.enqueue(fixture.newQueue(), childOf([parent.claim.jobId]));
      while ((await maintenance.resolveDependencies(100)) > 0);
      await control.run(id);
      if (state === 'scheduled') await edit([id], { runAt: later });
      const to = fixture.newQueue();
      await edit([id], { queue: to });
      await control.cancel(id);
      await control.retry(id);
      expect(await find(id)).to.include({ queue: to, state: 'awaiting' });
      await completions.complete([{ claim: parent.claim, outcome: { kind: 'done', result: 'null' } }]);
      while ((await maintenance.resolveDependencies(100)) > 0);
      expect((await find(id))?.state).to.equal(state);
    });
  }

  it('ends a job as cancelled if it is moved while a cancellation and the end of its attempt overtake each other', async () => {
    const { control, completions, maintenance } = fixture.storage;
    const error = { name: 'Error', message: 'no', stack: null };
    for (let round = 0; round < 20; round++) {
      const { claim } = await fixture.claimOne();
      const to = fixture.newQueue();
      const [cancelled] = await Promise.all([
        control.cancel(claim.jobId),
        completions.complete([{ claim, outcome: { kind: 'retry', error, delayMs: 0 } }]),
        edit([claim.jobId], { queue: to }).catch(() => undefined), // rejected while the attempt lasts
      ]);
      expect(cancelled.outcome).to.equal('ok');
      await maintenance.maintain();
      expect((await find(claim.jobId))?.state).to.equal('cancelled');
    }
  });

  it('makes a ready job scheduled, and changes the time of a scheduled one', async () => {
    const queue = fixture.newQueue();
    const [ready, waiting] = [
      await fixture.enqueue(queue),
      await fixture.enqueue(queue, { due: { inMs: yearMs } }),
    ];
    const edited = await edit([ready.id, waiting.id], { runAt: later });
    expect(edited.map(({ state, runAt }) => [state, runAt])).to.deep.equal([
      ['scheduled', later],
      ['scheduled', later],
    ]);
    const counts = await fixture.storage.jobs.count({ queue: [queue], state: ['scheduled'] });
    expect(counts.count).to.equal(2);
  });

  it('lets jobs be claimed by their new priority', async () => {
    const queue = fixture.newQueue();
    const [first, second] = [await fixture.enqueue(queue), await fixture.enqueue(queue)];
    await edit([second.id], { priority: -1 });
    const { id: serverId } = await fixture.register(queue);
    const claimed = await fixture.claim(serverId, queue);
    expect(claimed.map(({ claim }) => claim.jobId)).to.deep.equal([second.id, first.id]);
  });

  it('applies the limit of a concurrency key in a job’s new queue', async () => {
    const [from, to] = [fixture.newQueue(), fixture.newQueue()];
    const keyed = { meta: { concurrencyKey: 'k', concurrencyLimit: 1 } };
    const jobs = [await fixture.enqueue(to, keyed), await fixture.enqueue(from, keyed)];
    while ((await fixture.storage.maintenance.resolveDependencies(100)) > 0);
    await edit([jobs[1]?.id ?? ''], { queue: to });
    while ((await fixture.storage.maintenance.resolveDependencies(100)) > 0);
    const { id: serverId } = await fixture.register(to);
    expect(await fixture.claim(serverId, to)).to.have.length(1);
    expect(await find(jobs[1]?.id ?? '')).to.include({ queue: to, state: 'enqueued' });
  });

  it('shows existing jobs in any state, and changes none if the decision throws', async () => {
    const queue = fixture.newQueue();
    const ready = await fixture.enqueue(queue);
    const { claim } = await fixture.claimOne();
    const seen: string[] = [];
    const failed = fixture.storage.control.edit([ready.id, claim.jobId, newId(), 'none'], async (current) => {
      seen.push(...[...current.values()].map(({ state }) => state));
      throw new Error('not so');
    });
    expect(await failed.catch(String)).to.equal('Error: not so');
    expect(seen).to.have.members(['enqueued', 'processing']);
  });

  it('changes none of several jobs if one is running', async () => {
    const queue = fixture.newQueue();
    const ready = await fixture.enqueue(queue);
    const { claim } = await fixture.claimOne();
    expect(await edit([ready.id, claim.jobId], { priority: 9 }).catch(String)).to.contain('processing');
    expect((await find(ready.id))?.priority).to.equal(newJob(queue).priority);
  });

  /** A job that has failed once, with a number that JavaScript cannot hold. */
  const failed = async (): Promise<Job> => {
    const { claim } = await fixture.claimOne({ args: '{"n":1,"big":12345678901234567890}', maxAttempts: 1 });
    const error = { name: 'E', message: '', stack: null };
    await fixture.storage.completions.complete([{ claim, outcome: { kind: 'failed', error } }]);
    const job = await find(claim.jobId);
    if (job === null) throw new Error('The job has vanished');
    return job;
  };

  it('changes the queue, priority and arguments of a job that is retried, and keeps its attempts', async () => {
    const { id } = await failed();
    const [queue, args] = [fixture.newQueue(), '{"n":2,"big":12345678901234567000}'];
    const result = await fixture.storage.control.retry(id, { content: { queue, priority: 7, args } });
    expect(result).to.deep.include({ outcome: 'ok', changed: true });
    expect(await find(id)).to.deep.include({ state: 'enqueued', queue, priority: 7, attempt: 1 });
    const documents = await fixture.storage.jobs.findDocuments(id);
    expect(documents?.args.replaceAll(' ', '')).to.equal('{"n":2,"big":12345678901234567890}');
    expect(await fixture.storage.jobs.listAttempts(id)).to.have.length(1);
  });

  it('keeps what a retry does not change', async () => {
    const before = await failed();
    await fixture.storage.control.retry(before.id, { content: { priority: -3 } });
    const { queue, args } = before;
    expect(await find(before.id)).to.deep.include({ state: 'enqueued', queue, args, priority: -3 });
  });

  it('lets a server claim a job that was moved to another queue when it was retried', async () => {
    const { id } = await failed();
    const queue = fixture.newQueue();
    await fixture.storage.control.retry(id, { content: { queue } });
    const { id: serverId } = await fixture.register(queue);
    expect((await fixture.claimSome(serverId, queue)).map(({ claim }) => claim.jobId)).to.deep.equal([id]);
  });

  it('changes nothing of a job that cannot be retried, or whose new values are invalid', async () => {
    const { id } = await fixture.enqueue(fixture.newQueue(), { args: usual });
    await fixture.storage.control.retry(id, { content: { args: '{"n":2}', priority: 7 } });
    expect(await find(id)).to.deep.include({ args: { n: 1 }, priority: 0 });
    const job = await failed();
    const error = await fixture.storage.control.retry(job.id, { content: { queue: '' } }).catch(String);
    expect(error).to.match(/^RangeError: .*valid name for a queue/);
    expect((await find(job.id))?.state).to.equal('failed');
  });
}
