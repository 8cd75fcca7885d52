import { expect } from 'chai';
import { eventually, patientServer } from '@longshore/test-support';
import { defineJob, handleJob, JobClient, JobServer, MemoryStorage } from '../src/index.js';
import type { Server } from '../src/storage.js';
import { jobInState } from './support/serving.js';

const work = defineJob({ name: 'work' });

describe('A job server that receives an operator’s request', () => {
  let storage: MemoryStorage;

  beforeEach(() => {
    storage = new MemoryStorage();
  });

  const find = async (id: string | null): Promise<Server | undefined> =>
    (await storage.servers.list()).find((server) => server.id === id);

  it('finishes running jobs, releases the others and claims no more when quieted', async () => {
    const queue = 'work';
    const client = new JobClient(storage);
    let finish: () => void = () => undefined;
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const handlers = [handleJob(work, () => finished)];
    const options = { storage, handlers, queues: [queue], concurrency: 1 };
    const server = new JobServer({ ...options, ...patientServer });
    await server.start();
    const first = await client.enqueue(work, {}, { queue });
    await eventually(() => server.running);
    await storage.servers.quiet(server.id ?? '');
    await eventually(
      async () => (await find(server.id))?.state,
      (state) => state === 'quiet',
    );
    const second = await client.enqueue(work, {}, { queue });
    finish();
    await jobInState(storage, first.id, 'done');
    expect((await storage.jobs.find(second.id))?.state).to.equal('enqueued');
    expect(server.ended.aborted).to.equal(false);
    await server.stop();
  });

  it('unregisters after its jobs have ended when stopped', async () => {
    const queue = 'work';
    const options = { storage, handlers: [handleJob(work, () => null)], queues: [queue] };
    const server = new JobServer({ ...options, ...patientServer });
    await server.start();
    const { id } = server;
    await storage.servers.stop(id ?? '');
    await eventually(() => server.ended.aborted);
    expect(await find(id)).to.equal(undefined);
  });
});
