import { expect } from 'chai';
import { defineJob, JobClient, MemoryStorage } from '../src/index.js';

const job = defineJob({ name: 'work' });

describe('A server of the memory storage that unregisters', () => {
  it('uses up attempts of only as many jobs as it could run at once', async () => {
    const storage = new MemoryStorage();
    const results = await new JobClient(storage).enqueueMany(
      Array.from({ length: 8 }, () => ({ definition: job, args: {} })),
    );
    const server = await storage.servers.register({
      host: 'x',
      pid: 1,
      queues: ['default'],
      concurrency: 5,
      timeoutMs: 60_000,
    });
    await storage.claims.claim({ serverId: server.id, queue: 'default', limit: 8, leaseMs: 60_000 });
    await server.unregister();
    const attempts = await Promise.all(results.map(async ({ id }) => (await storage.jobs.find(id))?.attempt));
    expect(attempts).to.deep.equal([1, 1, 1, 1, 1, 0, 0, 0]);
  });
});
