import { ManualClock } from '@longshore/test-support';
import { expect } from 'chai';
import {
  defineJob,
  type EnqueueOptions,
  handleJob,
  type Job,
  JobClient,
  type JobContext,
  type JobHandler,
  type JobState,
  MemoryStorage,
  StepFailedError,
} from '../src/index.js';
import type { BeginTransaction } from '../src/memory/memory-claims.js';
import { jobInState, whileServing } from './support/serving.js';

const work = defineJob({ name: 'work', queue: 'work', maxAttempts: 3, retryDelay: [0] });
const child = defineJob({ name: 'child', queue: 'work', maxAttempts: 1 });
const day = 86_400_000;

const begin: BeginTransaction = (inTransaction) => inTransaction({ query: async () => ({ rows: [] }) });

describe('The steps of a job', () => {
  let storage: MemoryStorage;
  let client: JobClient;
  let clock: ManualClock;
  let runs: string[];

  beforeEach(() => {
    clock = new ManualClock();
    storage = new MemoryStorage({ clock, transaction: begin });
    client = new JobClient(storage);
    runs = [];
  });

  /** Returns the work of a step, which notes that it runs. */
  const noting =
    <Result>(name: string, result: Result) =>
    (): Result => {
      runs.push(name);
      return result;
    };

  const serve = (
    handle: (context: JobContext<unknown>) => unknown,
    whileRunning: (id: string) => Promise<Job>,
    others: JobHandler[] = [],
    options: EnqueueOptions = {},
  ): Promise<Job> =>
    whileServing(storage, 'work', [handleJob(work, handle), ...others], async () => {
      const { id } = await client.enqueue(work, {}, options);
      return whileRunning(id);
    });

  const run = (
    handle: (context: JobContext<unknown>) => unknown,
    state: JobState = 'done',
    others: JobHandler[] = [],
    options: EnqueueOptions = {},
  ): Promise<Job> => serve(handle, (id) => jobInState(storage, id, state), others, options);

  /** Waits until the job is suspended. */
  const suspended = (id: string): Promise<Job> => jobInState(storage, id, 'scheduled');

  it('run once, however often the handler runs', async () => {
    const { result, attempt } = await run(async ({ step, job }) => {
      const first = await step('first', noting('first', { at: 1 }));
      if (job.attempt < 3) throw new Error('later');
      return first;
    });
    expect({ result, attempt, runs }).to.deep.equal({ result: { at: 1 }, attempt: 3, runs: ['first'] });
  });

  it('may run in parallel, and are told apart by their names', async () => {
    const { result } = await run(async ({ step, job }) => {
      const order = job.attempt === 1 ? ['a', 'b'] : ['b', 'a'];
      const results = await Promise.all(order.map((name) => step(name, noting(name, name))));
      if (job.attempt === 1) throw new Error('later');
      return results;
    });
    expect({ result, runs }).to.deep.equal({ result: ['b', 'a'], runs: ['a', 'b'] });
  });

  it('must have different names', async () => {
    const { error } = await run(async ({ step }) => {
      await step('same', () => 1);
      await step('same', () => 2);
    }, 'failed');
    expect(error?.message).to.contain('two steps "same"');
  });

  it('do not nest', async () => {
    const { error } = await run(
      async ({ step, sleep }) => step('outer', async () => sleep('inner', { ms: day })),
      'failed',
    );
    expect(error?.message).to.contain('"inner" runs within the step "outer"');
  });

  it('of several jobs run beside each other', async () => {
    const ids = await Promise.all([1, 2, 3].map(async () => (await client.enqueue(work)).id));
    const handler = handleJob(work, ({ step, job }) => step('only', noting('only', job.id)));
    const results = await whileServing(storage, 'work', [handler], () =>
      Promise.all(ids.map(async (id) => (await jobInState(storage, id, 'done')).result)),
    );
    expect(results).to.deep.equal(ids);
  });

  it('run again if their error ended the attempt', async () => {
    const { result } = await run(async ({ step, job }) =>
      step('first', () => {
        runs.push('first');
        if (job.attempt < 3) throw new Error('not yet');
        return 'now';
      }),
    );
    expect({ result, runs: runs.length }).to.deep.equal({ result: 'now', runs: 3 });
  });

  it('do not run again if their error was caught', async () => {
    const { result } = await run(async ({ step, job }) => {
      const failed = await step('first', () => {
        runs.push('first');
        throw new RangeError('never');
      }).catch((error: unknown) => error);
      await step('second', noting('second', 2));
      if (job.attempt < 3) throw new Error('later');
      return [failed instanceof StepFailedError, failed instanceof Error && failed.name];
    });
    expect({ result, runs }).to.deep.equal({ result: [true, 'RangeError'], runs: ['first', 'second'] });
  });

  it('are tried as often as they say, without using up attempts of the job', async () => {
    const ended = await serve(
      async ({ step }) =>
        step(
          'first',
          ({ attempt }) => {
            runs.push(`first ${attempt}`);
            if (attempt < 3) throw new Error('not yet');
            return 'now';
          },
          { maxAttempts: 3, retryDelay: [1_000] },
        ),
      async (id) => {
        for (let retry = 0; retry < 2; retry++) {
          await suspended(id);
          clock.advance(1_000);
          await storage.maintenance.promoteDue(10);
        }
        return jobInState(storage, id, 'done');
      },
    );
    expect({ result: ended.result, attempt: ended.attempt, runs }).to.deep.equal({
      result: 'now',
      attempt: 1,
      runs: ['first 1', 'first 2', 'first 3'],
    });
  });

  it('sleep without holding a server, and go on afterwards', async () => {
    const ended = await serve(
      async ({ step, sleep }) => {
        await step('before', noting('before', 1));
        await sleep('night', { ms: day });
        return step('after', noting('after', 2));
      },
      async (id) => {
        const { runAt, attempt } = await suspended(id);
        expect([runAt?.getTime(), attempt]).to.deep.equal([clock.now() + day, 0]);
        clock.advance(day);
        await storage.maintenance.promoteDue(10);
        return jobInState(storage, id, 'done');
      },
    );
    expect({ result: ended.result, attempt: ended.attempt, runs }).to.deep.equal({
      result: 2,
      attempt: 1,
      runs: ['before', 'after'],
    });
  });

  it('cannot be kept from being suspended by a catch, a finally or a race', async () => {
    const ended = await serve(
      async ({ sleep }) => {
        try {
          await Promise.race([sleep('night', { ms: day }), sleep('other', { ms: 2 * day })]);
        } catch {
          runs.push('caught');
        } finally {
          runs.push('finally');
        }
      },
      async (id) => {
        await suspended(id);
        expect(runs).to.deep.equal([]);
        clock.advance(day);
        await storage.maintenance.promoteDue(10);
        return jobInState(storage, id, 'done');
      },
    );
    expect({ state: ended.state, runs }).to.deep.equal({ state: 'done', runs: ['finally'] });
  });

  it('finish before the attempt is suspended', async () => {
    await serve(
      async ({ step, waitFor }) =>
        Promise.all([
          waitFor('never'),
          step('slow', async () => {
            await new Promise((resolve) => setImmediate(resolve));
            return noting('slow', 1)();
          }),
        ]),
      suspended,
    );
    expect(runs).to.deep.equal(['slow']);
  });

  it('finish before an attempt ends in which another one fails', async () => {
    let fail: () => void = () => undefined;
    const failed = new Promise<void>((resolve) => (fail = resolve));
    const slow = async (enqueue: JobContext<unknown>['enqueue']): Promise<string> => {
      await failed;
      await new Promise((resolve) => setImmediate(resolve));
      await enqueue(child); // part of the step, so it still works
      return noting('slow', 'slow')();
    };
    const { result } = await run(async ({ step, job, enqueue }) => {
      const first = step('slow', () => slow(enqueue));
      const second = step('bad', () => {
        if (job.attempt > 1) return 'good';
        fail();
        throw new Error('bad');
      });
      return Promise.all([first, second]);
    });
    expect({ result, runs }).to.deep.equal({ result: ['slow', 'good'], runs: ['slow'] });
  });

  it('finish before the job does, with a warning, if the handler does not await them', async () => {
    const job = await run(async ({ step }) => {
      void step('late', async () => {
        await new Promise((resolve) => setImmediate(resolve));
        return noting('late', 7)();
      });
      return 'returned';
    });
    expect(job.result).to.equal('returned');
    expect((await storage.steps.read(job)).steps).to.have.length(1);
    const [line] = await storage.reports.listLogs(job.id);
    expect(line?.message).to.contain('"late" was still running');
  });

  it('cause no warning if the handler returns beside a sleep', async () => {
    const { id } = await run(async ({ sleep }) => void sleep('nap', { ms: 0 }));
    expect(await storage.reports.listLogs(id)).to.deep.equal([]);
  });

  it('cannot wait in an attempt that has exceeded its time limit', async () => {
    const { error } = await run(
      async ({ step, sleep, signal }) => {
        await step(
          'slow',
          () => new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve())),
        ).catch(() => undefined);
        await sleep('pause', { ms: day });
      },
      'failed',
      [],
      { timeoutMs: 20, maxAttempts: 1 },
    );
    expect(error?.name).to.equal('JobTimeoutError');
  });

  it('name themselves in an error about their results', async () => {
    const { result } = await run(({ step }) =>
      step('charge', () => ({ at: 1n })).catch((error: unknown) => (error as Error).message),
    );
    expect(result).to.equal('step("charge").at is a BigInt: pass it as a string');
  });

  it('receive a signal while they wait for it', async () => {
    const ended = await serve(
      async ({ waitFor }) => waitFor('packed'),
      async (id) => {
        expect((await suspended(id)).awaits).to.deep.equal(['packed']);
        expect(await client.sendSignal(id, 'packed', { parcels: 2 })).to.deep.equal([id]);
        await storage.maintenance.promoteDue(10);
        return jobInState(storage, id, 'done');
      },
    );
    expect(ended.result).to.deep.equal({ parcels: 2 });
  });

  it('receive a signal that came before, and the first of its name', async () => {
    const { id } = await client.enqueue(work, {}, { correlate: 'order:1' });
    await client.sendSignal({ correlate: 'order:1' }, 'packed', 1);
    await client.sendSignal({ correlate: 'order:1' }, 'packed', 2);
    const ended = await whileServing(
      storage,
      'work',
      [handleJob(work, ({ waitFor }) => waitFor('packed'))],
      () => jobInState(storage, id, 'done'),
    );
    expect(ended.result).to.equal(1);
  });

  it('time out, whatever comes later', async () => {
    const ended = await serve(
      async ({ waitFor, sleep }) => {
        const packed = await waitFor('packed', { timeoutMs: day });
        await sleep('then', { ms: day });
        return packed;
      },
      async (id) => {
        await suspended(id);
        clock.advance(day);
        await storage.maintenance.promoteDue(10);
        await suspended(id);
        await client.sendSignal(id, 'packed', 'late');
        clock.advance(day);
        await storage.maintenance.promoteDue(10);
        return jobInState(storage, id, 'done');
      },
    );
    expect(ended.result).to.equal(null);
  });

  it('wait for another job', async () => {
    const ended = await run(async ({ enqueueAndWait }) => enqueueAndWait(child), 'done', [
      handleJob(child, () => 'from the child'),
    ]);
    expect(ended.result).to.equal('from the child');
  });

  it('get the error of a job that they wait for', async () => {
    const ended = await run(
      async ({ enqueueAndWait }) => enqueueAndWait(child).catch((error: unknown) => String(error)),
      'done',
      [
        handleJob(child, () => {
          throw new RangeError('no child');
        }),
      ],
    );
    expect(ended.result).to.equal('RangeError: no child');
  });

  it('take effect in the transaction with their result', async () => {
    const { result } = await run(async ({ step, job }) => {
      const first = await step(
        'first',
        async ({ client: transaction }) => {
          runs.push(typeof transaction.query);
          return 1;
        },
        { transaction: true },
      );
      if (job.attempt < 2) throw new Error('later');
      return first;
    });
    expect({ result, runs }).to.deep.equal({ result: 1, runs: ['function'] });
  });

  it('pin a version with which a job passed', async () => {
    const versions: number[] = [];
    await run(async ({ step, job }) => {
      versions.push(await step.version('shipping', job.attempt));
      if (job.attempt < 3) throw new Error('later');
    });
    expect(versions).to.deep.equal([1, 1, 1]);
  });
});
