import { expect } from 'chai';
import { defineJob, JobClient, MemoryStorage } from '../src/index.js';

const job = defineJob({ name: 'work' });

describe('Completing in a transaction in memory', () => {
  it('does not commit if the job was aborted before', async () => {
    let committed = 0;
    const storage = new MemoryStorage({
      transaction: async (work) => {
        const result = await work({ query: async () => ({ rows: [], rowCount: 0 }) });
        committed += 1;
        return result;
      },
    });
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
    const completing = storage.completions.completeInTransaction(
      claimed.claim,
      async () => 'null',
      AbortSignal.abort(new Error('called off')),
    );
    const error: unknown = await completing.catch((thrown: unknown) => thrown);
    expect(String(error)).to.contain('called off');
    expect(committed).to.equal(0);
  });
});
