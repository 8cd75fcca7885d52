import { eventually } from '@longshore/test-support';
import { expect } from 'chai';
import { it } from 'mocha';
import {
  defineJob,
  handleJob,
  type Job,
  JobClient,
  type JobServerOptions,
  type RunJob,
} from '@longshore/jobs';
import type { Claim, JobReport, NewLogLine } from '@longshore/jobs/storage';
import { jobInState, whileServing } from './serving-queue.js';
import type { Fixture } from './storage-under-test.js';

const lineOf = (line: number, fields: string | null = null): NewLogLine => ({
  line,
  at: new Date(1_750_000_000_000 + line),
  level: 'info',
  message: `line ${line}`,
  fields,
});

const linesFor = (claim: Claim, ...lines: number[]): JobReport => ({
  claim,
  progress: null,
  lines: lines.map((line) => lineOf(line)),
});

/** Defines the tests of the progress and log lines that running jobs report. */
export function reporting(fixture: Fixture): void {
  const messagesOf = async (
    id: string,
    query?: Parameters<typeof fixture.storage.reports.listLogs>[1],
  ): Promise<string[]> => (await fixture.storage.reports.listLogs(id, query)).map(({ message }) => message);

  async function progressOf(id: string): Promise<Job['progress'] | undefined> {
    return (await fixture.storage.jobs.find(id))?.progress;
  }

  /** Runs one job with this handler, and resolves to the job once it is in the expected state. */
  async function run(
    handler: RunJob<unknown>,
    options: Partial<JobServerOptions> = {},
    state: 'done' | 'failed' = 'done',
  ): Promise<Job> {
    const talkative = defineJob({ name: 'talkative', queue: fixture.newQueue(), maxAttempts: 1 });
    const work = async (): Promise<Job> => {
      const { id } = await new JobClient(fixture.storage).enqueue(talkative, {});
      return jobInState(fixture, id, state);
    };
    return whileServing(fixture, talkative.queue, [handleJob(talkative, handler)], work, options);
  }

  it('stores log lines in order, with attempt, time, level and fields', async () => {
    const { claim } = await fixture.claimOne();
    const first = lineOf(1, '{"order":7}');
    expect(
      await fixture.storage.reports.report([{ claim, progress: null, lines: [first, lineOf(2)] }]),
    ).to.deep.equal([]);
    const [one, two] = await fixture.storage.reports.listLogs(claim.jobId);
    expect(one).to.deep.include({
      attempt: 1,
      at: first.at,
      level: 'info',
      message: 'line 1',
      fields: { order: 7 },
    });
    expect(two).to.deep.include({ message: 'line 2', fields: null });
  });

  it('stores each line once, however often it is reported', async () => {
    const { claim } = await fixture.claimOne();
    await fixture.storage.reports.report([linesFor(claim, 1, 2)]);
    await fixture.storage.reports.report([linesFor(claim, 2, 3)]);
    expect(await messagesOf(claim.jobId)).to.deep.equal(['line 1', 'line 2', 'line 3']);
  });

  it('stores nothing for an invalid claim, and returns it', async () => {
    const { claim } = await fixture.claimOne();
    const stale = { ...claim, attempt: 2 };
    const report = { ...linesFor(stale, 1), progress: { percent: 5, message: null, at: new Date() } };
    expect(await fixture.storage.reports.report([report, linesFor(claim, 2)])).to.deep.equal([stale]);
    expect(await messagesOf(claim.jobId)).to.deep.equal(['line 2']);
    expect(await progressOf(claim.jobId)).to.equal(null);
  });

  it('lists and counts the lines of one attempt, in pages', async () => {
    const { queue, claim } = await fixture.claimOne();
    await fixture.storage.reports.report([linesFor(claim, 1, 2)]);
    await fixture.storage.completions.complete([
      { claim, outcome: { kind: 'retry', error: { name: 'E', message: '', stack: null }, delayMs: 0 } },
    ]);
    await fixture.untilPromoted(claim.jobId);
    const [second] = await fixture.claimSome(claim.serverId, queue);
    await fixture.storage.reports.report([linesFor(second.claim, 1, 2, 3)]);
    const { jobId } = claim;
    expect(await messagesOf(jobId)).to.have.length(5);
    expect(await fixture.storage.reports.countLogs(jobId)).to.equal(5);
    expect(await fixture.storage.reports.countLogs(jobId, { attempt: 2 })).to.equal(3);
    expect(await messagesOf(jobId, { attempt: 1 })).to.deep.equal(['line 1', 'line 2']);
    const [, , third] = await fixture.storage.reports.listLogs(jobId);
    const rest = await fixture.storage.reports.listLogs(jobId, { after: third?.id ?? '', limit: 1 });
    expect(rest).to.have.length(1);
    expect(rest[0]).to.include({ attempt: 2, message: 'line 2' });
    expect(await messagesOf(jobId, { offset: 4 })).to.deep.equal(['line 3']);
  });

  it('lists the latest lines of several jobs together, latest first, at most as many of each as in all', async () => {
    const { reports, jobs } = fixture.storage;
    const { claim: one } = await fixture.claimOne();
    const { claim: two } = await fixture.claimOne();
    const at = (claim: Claim, ...numbers: number[]): JobReport => ({
      claim,
      progress: { percent: 50, message: null, at: new Date() },
      lines: numbers.map((number, index) => ({ ...lineOf(number), line: index + 1 })),
    });
    await reports.report([at(one, 10, 30, 40, 60), at(two, 20, 50)]);
    const found = await Promise.all([one, two].map(({ jobId }) => jobs.find(jobId)));
    const read = async (of: typeof found, limit: number): Promise<string[]> =>
      (
        await reports.listLatestLogs(
          of.filter((job) => job !== null),
          limit,
        )
      ).map(({ message }) => message);
    expect(await read(found, 10)).to.deep.equal([60, 50, 40, 30, 20, 10].map((number) => `line ${number}`));
    expect(await read(found, 3)).to.deep.equal(['line 60', 'line 50', 'line 40']);
    expect(await read(found.slice(1), 10)).to.deep.equal(['line 50', 'line 20']);
    expect(await read([], 10)).to.deep.equal([]);
    const [first] = await reports.listLatestLogs(
      found.filter((job) => job !== null),
      1,
    );
    const [own] = (await reports.listLogs(one.jobId)).slice(-1);
    expect(first).to.deep.equal({ ...own, jobId: one.jobId });
    const nowhere = { id: one.jobId, queue: 'none', createdAt: new Date(0) };
    expect(await reports.listLatestLogs([nowhere], 10)).to.deep.equal([]);
  });

  it('returns no log of an unknown job', async () => {
    expect(await fixture.storage.reports.listLogs('nobody')).to.deep.equal([]);
    expect(await fixture.storage.reports.countLogs('nobody')).to.equal(0);
  });

  it('shows the newest progress, whatever order reports arrive in, wherever the job is read', async () => {
    const { queue, claim } = await fixture.claimOne();
    const at = (second: number): Date => new Date(1_750_000_000_000 + second * 1_000);
    const progress = (percent: number, second: number): JobReport => ({
      claim,
      progress: { percent, message: 'half', at: at(second) },
      lines: [],
    });
    await fixture.storage.reports.report([progress(50.25, 2)]);
    await fixture.storage.reports.report([progress(10, 1)]);
    expect(await progressOf(claim.jobId)).to.deep.equal({ percent: 50.25, message: 'half' });
    expect((await fixture.jobsOf(queue))[0]?.progress).to.deep.equal({ percent: 50.25, message: 'half' });
  });

  it('clears the progress of the previous attempt', async () => {
    const { queue, claim } = await fixture.claimOne();
    await fixture.storage.reports.report([
      { claim, progress: { percent: 50, message: null, at: new Date() }, lines: [] },
    ]);
    await fixture.storage.claims.release([claim]);
    expect(await progressOf(claim.jobId)).to.equal(null);
    await fixture.claim(claim.serverId, queue);
    expect(await progressOf(claim.jobId)).to.equal(null);
  });

  it('stores the last progress and every line before the job is done', async () => {
    const job = await run(({ log, progress }) => {
      for (let percent = 0; percent <= 100; percent++) progress(percent, `${percent} of 100`);
      log.debug('begun');
      log.warn('slow', { ms: 12, err: new RangeError('late') });
    });
    expect(job.progress).to.deep.equal({ percent: 100, message: '100 of 100' });
    const [, slow] = await fixture.storage.reports.listLogs(job.id);
    expect(slow).to.include({ level: 'warn', message: 'slow', attempt: 1 });
    expect(slow?.fields).to.deep.include({ ms: 12 });
    expect(slow?.fields?.['err']).to.include({ name: 'RangeError', message: 'late' });
  });

  it('stores every line before the job has failed', async () => {
    const handler: RunJob<unknown> = ({ log }) => {
      log.error('about to give up');
      throw new Error('gave up');
    };
    const { id } = await run(handler, {}, 'failed');
    expect(await messagesOf(id)).to.deep.equal(['about to give up']);
  });

  it('shows lines and progress while the handler is running', async () => {
    const patient = defineJob({ name: 'patient', queue: fixture.newQueue() });
    let finish = (): void => undefined;
    const handler = handleJob(patient, async ({ log, progress }) => {
      log.info('waiting');
      progress(1);
      await new Promise<void>((resolve) => (finish = resolve));
    });
    await whileServing(fixture, patient.queue, [handler], async () => {
      const { id } = await new JobClient(fixture.storage).enqueue(patient, {});
      await eventually(
        async () => ({ messages: await messagesOf(id), progress: await progressOf(id) }),
        ({ messages, progress }) => messages.length > 0 && progress?.percent === 1,
      );
      expect(await fixture.storage.jobs.find(id)).to.include({ state: 'processing' });
      finish();
      await jobInState(fixture, id, 'done');
    });
  });

  it('stores a limited number of lines per attempt, and reports that others were dropped', async () => {
    const handler: RunJob<unknown> = ({ log }) => {
      for (let line = 1; line <= 1_200; line++) log.info(`line ${line}`);
    };
    const { id } = await run(handler);
    const lines = await fixture.storage.reports.listLogs(id, { limit: 2_000 });
    expect(lines).to.have.length(1_001);
    expect(lines[999]?.message).to.equal('line 1000');
    expect(lines[1_000]).to.include({ level: 'warn' });
    expect(lines[1_000]?.message).to.contain('maxLogLines');
  });

  it('stores a limited number of bytes per line, in whole characters', async () => {
    const handler: RunJob<unknown> = ({ log }) => {
      log.info('€'.repeat(100));
      log.info('short', { long: 'x'.repeat(200) });
    };
    const { id } = await run(handler, { maxLogLineBytes: 100 });
    const [long, short] = await fixture.storage.reports.listLogs(id);
    expect(long?.message).to.equal('€'.repeat(33));
    expect(short).to.deep.include({ message: 'short', fields: { omitted: 'too long' } });
  });

  it('replaces characters that databases cannot store', async () => {
    const job = await run(({ log, progress }) => {
      log.info('a\0b\ud800', { text: 'c\0d\ud800', [String.raw`\u0000`]: String.raw`\\u0000` });
      progress(Number.NaN, '\0');
    });
    const [line] = await fixture.storage.reports.listLogs(job.id);
    expect(line).to.deep.include({
      message: 'a\u2400b\ufffd',
      fields: { text: 'c\ufffdd\ufffd', [String.raw`\u0000`]: String.raw`\\u0000` },
    });
    expect(job.progress).to.deep.equal({ percent: 0, message: '\u2400' });
  });
}
