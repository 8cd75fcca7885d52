import { defineJob, type EnqueueRequest, MemoryStorage, ReadTimeoutError } from '@longshore/jobs';
import { newId } from '@longshore/jobs/storage';
import { ManualClock } from '@longshore/test-support';
import { expect } from 'chai';
import { Backlog } from '../src/quotas.js';

const work = defineJob({ name: 'work' });

describe('The limit of ready jobs in a queue', () => {
  let clock: ManualClock;
  let counted: string[];
  let ready: () => Promise<number>;
  let backlog: Backlog;
  beforeEach(() => {
    const storage = new MemoryStorage();
    clock = new ManualClock();
    counted = [];
    ready = async () => 0;
    storage.jobs.count = async (filter) => {
      counted.push(...(filter?.queue ?? []));
      return { count: await ready(), exact: true };
    };
    backlog = new Backlog(storage, { ready: 3, waiting: 2 }, clock.now);
  });

  /** Returns how many of some concurrent requests, each for one job, were admitted. */
  const admitted = async (jobs: number): Promise<number> => {
    const answers = await Promise.all(
      Array.from({ length: jobs }, () =>
        backlog.admit([{ definition: work, args: {} }]).then(
          () => true,
          () => false,
        ),
      ),
    );
    return answers.filter(Boolean).length;
  };

  it('holds for concurrent requests, which share one count', async () => {
    expect(await admitted(6)).to.equal(3);
    expect(counted).to.deep.equal(['default']);
  });

  it('is not about jobs that wait for a time or for other jobs, which have a limit of their own', async () => {
    expect(await admitted(3)).to.equal(3);
    const waiting = (options: EnqueueRequest['options']): Promise<unknown> =>
      backlog.admit([{ definition: work, args: {}, options: { queue: 'default', ...options } }]).then(
        () => 'admitted',
        (error: unknown) => (error as Error).message,
      );
    expect(await waiting({ delayMs: 60_000 })).to.equal('admitted');
    expect(await waiting({ after: { parents: [newId()] } })).to.equal('admitted');
    expect(await waiting({ runAt: new Date('9000-01-01T00:00:00Z') })).to.contain(
      'has 2 waiting jobs; its limit is 2',
    );
    expect(await admitted(1)).to.equal(0);
  });

  it('is compared with a new count after a second', async () => {
    await admitted(3);
    clock.advance(999);
    expect(await admitted(1)).to.equal(0);
    clock.advance(1);
    expect(await admitted(1)).to.equal(1);
  });

  it('is compared with the previous count, plus the jobs since, if counting takes too long', async () => {
    await admitted(3);
    clock.advance(1_000);
    ready = () => Promise.reject(new ReadTimeoutError('too slow'));
    expect(await admitted(1)).to.equal(0);
  });
});
