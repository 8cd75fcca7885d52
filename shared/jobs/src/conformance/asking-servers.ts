import { expect } from 'chai';
import { it } from 'mocha';
import { defineJob } from '../job/definition.js';
import { newId } from '../job/id.js';
import type { Server } from '../job/job.js';
import type { ServerRequest } from '../job/server-state.js';
import { handleJob } from '../server/handler.js';
import { JobServer } from '../server/job-server.js';
import { JobClient } from '../client/job-client.js';
import type { ServerRegistration } from '../storage/servers.js';
import { type Bench, until } from './storage-under-test.js';

const work = defineJob({ name: 'work' });

/** Short, so that heartbeats come often. */
const timeoutMs = 900;

/** The shortest that a job server takes. */
const serverTimeoutMs = 5_000;

export function askingServers(bench: Bench): void {
  const register = async (queue: string): Promise<[ServerRegistration, ServerRequest[]]> => {
    const requests: ServerRequest[] = [];
    const description = { host: 'asked', pid: 1, queues: [queue], concurrency: 1, timeoutMs };
    const registration = await bench.storage.servers.register(description, (request) =>
      requests.push(request),
    );
    return [registration, requests];
  };

  const find = async (id: string | null): Promise<Server | undefined> =>
    (await bench.storage.servers.list()).find((server) => server.id === id);

  const untilState = (id: string | null, state: Server['state']): Promise<Server> =>
    until(async () => {
      const server = await find(id);
      return server?.state === state ? server : undefined;
    });

  it('tells a server once what is asked of it', async () => {
    const [registration, requests] = await register(bench.newQueue());
    const first = await bench.storage.servers.quiet(registration.id);
    expect(first).to.deep.include({ outcome: 'ok', changed: true });
    expect((await find(registration.id))?.requested).to.equal('quiet');
    await until(async () => requests[0]);
    expect(await bench.storage.servers.quiet(registration.id)).to.include({ outcome: 'ok', changed: false });
    await bench.storage.servers.stop(registration.id);
    await until(async () => requests[1]);
    await registration.unregister();
    expect(requests).to.deep.equal(['quiet', 'stop']);
  });

  it('does not take a request to stop back for one to be quiet', async () => {
    const [registration] = await register(bench.newQueue());
    await bench.storage.servers.stop(registration.id);
    expect(await bench.storage.servers.quiet(registration.id)).to.include({ outcome: 'ok', changed: false });
    expect((await find(registration.id))?.requested).to.equal('stop');
    await registration.unregister();
  });

  for (const verb of ['quiet', 'stop'] as const) {
    it(`${verb} knows no server by the id of none`, async () => {
      expect(await bench.storage.servers[verb](newId())).to.deep.equal({ outcome: 'unknown' });
      expect(await bench.storage.servers[verb]('none')).to.deep.equal({ outcome: 'unknown' });
    });
  }

  it('counts no quiet server among those that take jobs from a queue', async () => {
    const queue = bench.newQueue();
    const [registration] = await register(queue);
    const takers = async (): Promise<number | undefined> =>
      (await bench.storage.queues.list()).find(({ name }) => name === queue)?.servers;
    expect(await takers()).to.equal(1);
    registration.enter('quiet');
    await untilState(registration.id, 'quiet');
    expect(await takers()).to.equal(0);
    await registration.unregister();
  });

  it('a quiet server finishes what it runs, gives back the rest and takes nothing more', async () => {
    const queue = bench.newQueue();
    const client = new JobClient(bench.storage);
    let finish: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const handlers = [handleJob(work, () => held)];
    const options = { storage: bench.storage, handlers, queues: [queue], concurrency: 1 };
    const server = new JobServer({ ...options, serverTimeoutMs });
    await server.start();
    const first = await client.enqueue(work, {}, { queue });
    await until(async () => server.running || undefined);
    await bench.storage.servers.quiet(server.id ?? '');
    await untilState(server.id, 'quiet');
    const second = await client.enqueue(work, {}, { queue });
    finish();
    await until(async () => (await bench.storage.jobs.find(first.id))?.state === 'done' || undefined);
    expect((await bench.storage.jobs.find(second.id))?.state).to.equal('enqueued');
    expect(server.ended.aborted).to.equal(false);
    await server.stop();
  });

  it('a server that is asked to stop is gone when its jobs have ended', async () => {
    const queue = bench.newQueue();
    const options = { storage: bench.storage, handlers: [handleJob(work, () => null)], queues: [queue] };
    const server = new JobServer({ ...options, serverTimeoutMs });
    await server.start();
    const { id } = server;
    await bench.storage.servers.stop(id ?? '');
    await until(async () => server.ended.aborted || undefined);
    expect(await find(id)).to.equal(undefined);
  });
}
