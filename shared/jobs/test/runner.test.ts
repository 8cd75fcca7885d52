import { expect } from 'chai';
import { defineJob, handleJob, MemoryStorage } from '../src/index.js';
import type { ClaimedJob } from '../src/storage.js';
import { Fetcher } from '../src/server/fetcher.js';
import { Holdings } from '../src/server/holdings.js';
import { silentLogger } from '../src/server/logger.js';
import { Runner, type RunnerOptions } from '../src/server/runner.js';
import { type JobServerOptions, resolveServerOptions } from '../src/server/server-options.js';

const claimed = (attempt: number): ClaimedJob => ({
  claim: { jobId: 'job', queue: 'default', serverId: 'server', attempt },
  name: 'work',
  priority: 0,
  args: {},
  maxAttempts: 10,
  createdAt: new Date(),
  dueAt: new Date(0),
  readyAt: new Date(0),
  meta: null,
});

function runnerOf(
  given: JobServerOptions,
  onOutcome: RunnerOptions['onOutcome'] = () => undefined,
): { runner: Runner; holdings: Holdings } {
  const holdings = new Holdings(given.storage.claims, silentLogger);
  const options = {
    ...resolveServerOptions(given),
    holdings,
    onStart: () => undefined,
    onOutcome,
    onRunning: () => undefined,
  };
  return { runner: new Runner(options), holdings };
}

describe('A server that loses leases', () => {
  /**
   * Starts attempt `running` of a job, drops the lease of attempt `dropped`, and lets the job finish. Returns the kinds
   * of the reported outcomes.
   */
  async function endAfterDrop(running: number, dropped: number): Promise<unknown[]> {
    let finish: () => void = () => undefined;
    const work = handleJob(
      defineJob({ name: 'work' }),
      () => new Promise<void>((resolve) => (finish = resolve)),
    );
    const storage = new MemoryStorage();
    const outcomes: unknown[] = [];
    const { runner } = runnerOf({ storage, handlers: [work] }, (_, outcome) => outcomes.push(outcome?.kind));
    runner.take([claimed(running)]);
    runner.drop([claimed(dropped).claim], new Error('lost'));
    finish();
    await runner.finished(3_600_000);
    await new Promise((resolve) => setImmediate(resolve));
    return outcomes;
  }

  it('stores nothing of the lost attempt', async () => {
    expect(await endAfterDrop(1, 1)).to.deep.equal([]);
  });

  it('continues with a later attempt of the same job', async () => {
    expect(await endAfterDrop(2, 1)).to.deep.equal(['done']);
  });

  it('drops an attempt whose job it claims again with the same fence, after a crash has undone the first claim', async () => {
    const aborted: boolean[] = [];
    const finish: (() => void)[] = [];
    const work = handleJob(defineJob({ name: 'work' }), async ({ signal }) => {
      await new Promise<void>((resolve) => finish.push(resolve));
      aborted.push(signal.aborted);
      if (signal.aborted) throw new Error('the first run');
    });
    const outcomes: unknown[] = [];
    const { runner } = runnerOf(
      { storage: new MemoryStorage(), handlers: [work], concurrency: 1 },
      (_, outcome) => outcomes.push(outcome?.kind),
    );
    runner.take([claimed(1)]);
    runner.take([claimed(1)]);
    for (const end of finish) end();
    await runner.finished(3_600_000);
    expect(aborted).to.deep.equal([true, false]);
    expect(outcomes).to.deep.equal(['done']);
  });

  it('does not run jobs claimed with an id that has been declared dead', async () => {
    const taken: ClaimedJob[] = [];
    const storage = new MemoryStorage();
    const holdings = new Holdings(storage.claims, silentLogger);
    holdings.serverId = 'server';
    storage.claims.findReady = async () => ['default'];
    storage.claims.claim = async () => {
      holdings.serverId = null;
      return [claimed(1)];
    };
    const fetcher = new Fetcher({
      ...resolveServerOptions({ storage, handlers: [] }),
      holdings,
      runner: { take: (jobs) => taken.push(...jobs), takeWaiting: () => [] },
      isPaused: () => false,
    });
    await fetcher.runOnce();
    expect(taken).to.deep.equal([]);
  });
});

describe('A server that is asked to cancel a job that waits for a free slot', () => {
  it('does not start the job, and gives its claim back', async () => {
    const started: string[] = [];
    const finish: (() => void)[] = [];
    const work = handleJob(defineJob({ name: 'work' }), async ({ job }) => {
      started.push(job.id);
      await new Promise<void>((resolve) => finish.push(resolve));
    });
    const { runner, holdings } = runnerOf({ storage: new MemoryStorage(), handlers: [work], concurrency: 1 });
    const first = claimed(1);
    const second = { ...first, claim: { ...first.claim, jobId: 'second' } };
    runner.take([first, second]);
    expect(runner.cancel([second.claim])).to.deep.equal([second.claim]);
    for (const end of finish) end();
    await runner.finished(3_600_000);
    expect([started, holdings.claimed]).to.deep.equal([['job'], 0]);
  });
});
