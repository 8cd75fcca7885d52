import { expect } from 'chai';
import { defineJob, JobClient, MemoryStorage, type MemoryStorageOptions } from '../src/index.js';
import type { FinishedState } from '../src/storage.js';

const dayMs = 86_400_000;
const job = defineJob({ name: 'work' });
const error = { name: 'Error', message: 'no', stack: null };

describe('The history of a memory storage', () => {
  let nowMs: number;

  beforeEach(() => {
    nowMs = Date.now();
  });

  const storageWith = (options: MemoryStorageOptions = {}): MemoryStorage =>
    new MemoryStorage({ clock: { now: () => nowMs }, ...options });

  /** Enqueues a job, ends it in this state, and resolves to its id. */
  async function end(storage: MemoryStorage, state: FinishedState): Promise<string> {
    const { id } = await new JobClient(storage).enqueue(job, {});
    await finish(storage, state);
    return id;
  }

  async function finish(storage: MemoryStorage, state: FinishedState): Promise<void> {
    const server = await storage.servers.register({
      host: 'x',
      pid: 1,
      queues: ['default'],
      concurrency: 1,
      timeoutMs: 60_000,
    });
    const [claimed] = await storage.claims.claim({
      serverId: server.id,
      queue: 'default',
      limit: 1,
      leaseMs: 60_000,
    });
    if (claimed === undefined) throw new Error('There was nothing to claim');
    const outcome = state === 'done' ? { kind: state, result: 'null' } : { kind: state, error };
    await storage.completions.complete([{ claim: claimed.claim, outcome }]);
    await server.unregister();
  }

  const there = async (storage: MemoryStorage, ids: readonly string[]): Promise<boolean[]> =>
    Promise.all(ids.map(async (id) => (await storage.jobs.find(id)) !== null));

  it('loses exactly the jobs that are older than the retention of their state', async () => {
    const storage = storageWith();
    const ids = [await end(storage, 'done'), await end(storage, 'failed'), await end(storage, 'cancelled')];
    nowMs += 7 * dayMs - 1;
    await storage.maintenance.maintain();
    const before = await there(storage, ids);
    nowMs += 1;
    await storage.maintenance.maintain();
    const after = await there(storage, ids);
    nowMs += 23 * dayMs;
    await storage.maintenance.maintain();
    expect({ before, after, atLast: await there(storage, ids) }).to.deep.equal({
      before: [true, true, true],
      after: [false, true, false],
      atLast: [false, false, false],
    });
  });

  it('is kept as long as the options say', async () => {
    const storage = storageWith({ retentionDays: { done: 10, failed: 1 } });
    const ids = [await end(storage, 'done'), await end(storage, 'failed')];
    nowMs += 9 * dayMs;
    await storage.maintenance.maintain();
    expect(await there(storage, ids)).to.deep.equal([true, false]);
  });

  it('keeps unfinished jobs regardless of age', async () => {
    const storage = storageWith();
    const { id } = await new JobClient(storage).enqueue(job, {});
    nowMs += 1_000 * dayMs;
    await storage.maintenance.maintain();
    expect(await there(storage, [id])).to.deep.equal([true]);
  });

  it('measures the age of a retried job from its latest end', async () => {
    const storage = storageWith({ maxFinished: 1 });
    const id = await end(storage, 'failed');
    const other = await end(storage, 'failed');
    nowMs += 20 * dayMs;
    await storage.control.retry(id);
    await finish(storage, 'failed');
    nowMs += 20 * dayMs;
    await storage.maintenance.maintain();
    expect(await there(storage, [id, other])).to.deep.equal([true, false]);
  });

  it('rejects an invalid number of days', () => {
    expect(() => new MemoryStorage({ retentionDays: { failed: 0 } })).to.throw(
      RangeError,
      'retentionDays.failed must be an integer from 1 to 3650, not 0',
    );
  });
});
