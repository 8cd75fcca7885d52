import { expect } from 'chai';
import { ManualClock } from '@longshore/test-support';
import { defineJob, type Job, JobClient, MemoryStorage, type TransactionClient } from '../src/index.js';
import type { BeginTransaction } from '../src/memory/memory-claims.js';
import { type Claim, type Lease, newId } from '../src/storage.js';

const job = defineJob({ name: 'work' });
const client: TransactionClient = { query: async () => ({ rows: [] }) };

async function claimOne(storage: MemoryStorage): Promise<Claim> {
  await new JobClient(storage).enqueue(job, {});
  const { id: serverId } = await storage.servers.register({
    host: 'x',
    pid: 1,
    queues: ['default'],
    concurrency: 1,
    timeoutMs: 60_000,
  });
  const query = { serverId, queue: 'default', limit: 1, leaseMs: 60_000 };
  const [claimed] = await storage.claims.claim(query);
  if (claimed === undefined) throw new Error('There was nothing to claim');
  return claimed.claim;
}

describe('Completing in a transaction in memory', () => {
  it('does not commit if the job was aborted before', async () => {
    let committed = 0;
    const storage = new MemoryStorage({
      transaction: async (work) => {
        const result = await work(client);
        committed += 1;
        return result;
      },
    });
    const claim = await claimOne(storage);
    const completing = storage.completions.completeInTransaction(
      claim,
      async () => 'null',
      AbortSignal.abort(new Error('called off')),
    );
    const error: unknown = await completing.catch((thrown: unknown) => thrown);
    expect(String(error)).to.contain('called off');
    expect(committed).to.equal(0);
  });

  describe('while the transaction commits', () => {
    /** Completes a job in a transaction that calls `commit` at its end. Resolves to the job. */
    async function complete(
      commit: (storage: MemoryStorage, claim: Claim) => Promise<unknown>,
      clock?: ManualClock,
    ): Promise<Job | null> {
      const transaction: BeginTransaction = async (work) => {
        const result = await work(client);
        await commit(storage, claim);
        return result;
      };
      const storage = new MemoryStorage({ transaction, ...(clock && { clock }) });
      const claim = await claimOne(storage);
      await storage.completions.completeInTransaction(claim, async () => 'null');
      return storage.jobs.find(claim.jobId);
    }

    it('does not lose the lease', async () => {
      const clock = new ManualClock();
      const job = await complete(async ({ maintenance }) => {
        clock.advance(3_600_000); // longer than the lease and the server's timeout
        await maintenance.rescue();
      }, clock);
      expect(job).to.include({ state: 'done', attempt: 1 });
    });

    it('does not release the job', async () => {
      const stale: Claim[] = [];
      const job = await complete(async ({ claims }, claim) => stale.push(...(await claims.release([claim]))));
      expect([stale.length, job?.state]).to.deep.equal([1, 'done']);
    });

    it('ignores another outcome', async () => {
      const stale: Claim[] = [];
      const outcome = { kind: 'snooze', delayMs: 1 } as const;
      const job = await complete(async ({ completions }, claim) =>
        stale.push(...(await completions.complete([{ claim, outcome }]))),
      );
      expect([stale.length, job?.state]).to.deep.equal([1, 'done']);
    });

    it('keeps the lease locked and does not renew it', async () => {
      const leases: (Lease | null)[] = [];
      const stale: Claim[] = [];
      await complete(async (storage, claim) => {
        leases.push(await storage.leases.find({ id: claim.jobId }));
        stale.push(...(await storage.claims.renew([claim], 3_600_000)));
        leases.push(await storage.leases.find({ id: claim.jobId }));
      });
      const [before, after] = leases;
      expect(before).to.include({ locked: true });
      expect([after, stale]).to.deep.equal([before, []]);
    });
  });

  it('unlocks the job if the transaction rolls back', async () => {
    const clock = new ManualClock();
    const storage = new MemoryStorage({ transaction: (work) => work(client), clock });
    const claim = await claimOne(storage);
    const refused = new Error('no');
    const completing = storage.completions.completeInTransaction(claim, () => Promise.reject(refused));
    expect(await completing.catch((thrown: unknown) => thrown)).to.equal(refused);
    clock.advance(3_600_000);
    await storage.maintenance.rescue();
    expect((await storage.jobs.find(claim.jobId))?.state).to.equal('enqueued');
  });
});

describe('Enqueueing in a transaction in memory', () => {
  let commit: () => void;
  const transaction: TransactionClient = { ...client, afterCommit: (act) => (commit = act) };

  it('creates the queue at the commit, even if there are too many queues by then', async () => {
    const storage = new MemoryStorage({ maxQueues: 1 });
    const jobs = new JobClient(storage);
    const { id } = await jobs.enqueue(job, {}, { transaction, queue: 'late' });
    await jobs.enqueue(job, {}, { queue: 'early' });
    commit();
    expect(await storage.jobs.find(id)).to.include({ queue: 'late', state: 'enqueued' });
  });

  it('does not add a job again that exists by then', async () => {
    const storage = new MemoryStorage();
    const id = newId();
    const rest = { name: 'work', queue: 'default', priority: 0, args: '{}', maxAttempts: 1, due: null };
    const added = { id, ...rest };
    await storage.enqueuer.enqueue([added], transaction);
    await storage.enqueuer.enqueue([added]);
    commit();
    expect((await storage.jobs.count({})).count).to.equal(1);
  });

  it('adds a job whose parent is deleted before the commit', async () => {
    const storage = new MemoryStorage();
    const jobs = new JobClient(storage);
    const { id: parent } = await jobs.enqueue(job, {});
    const { id } = await jobs.enqueue(job, {}, { transaction, after: { parents: [parent], when: 'onAny' } });
    await storage.control.cancel(parent);
    await storage.control.delete(parent);
    commit();
    expect((await storage.jobs.find(id))?.state).to.equal('enqueued');
  });
});
