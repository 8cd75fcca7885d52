import { eventually } from '@longshore/test-support';
import { expect } from 'chai';
import { it } from 'mocha';
import { newId, type Server, type ServerRegistration, type ServerRequest } from '@longshore/jobs/storage';
import type { Fixture } from './storage-under-test.js';

/**
 * Server timeout, in milliseconds. Short, so that heartbeats are frequent; servers receive requests in the answers to
 * their heartbeats. Nothing declares servers dead during these tests.
 */
const timeoutMs = 6_000;

export function askingServers(fixture: Fixture): void {
  const register = async (queue: string): Promise<[ServerRegistration, ServerRequest[]]> => {
    const requests: ServerRequest[] = [];
    const description = { host: 'asked', pid: 1, queues: [queue], concurrency: 1, timeoutMs };
    const registration = await fixture.storage.servers.register(description, (request) =>
      requests.push(request),
    );
    return [registration, requests];
  };

  const find = async (id: string | null): Promise<Server | undefined> =>
    (await fixture.storage.servers.list()).find((server) => server.id === id);

  const untilState = (id: string | null, state: Server['state']): Promise<Server | undefined> =>
    eventually(
      () => find(id),
      (server) => server?.state === state,
    );

  it('delivers each request to the server once', async () => {
    const [registration, requests] = await register(fixture.newQueue());
    const first = await fixture.storage.servers.quiet(registration.id);
    expect(first).to.deep.include({ outcome: 'ok', changed: true });
    expect((await find(registration.id))?.requested).to.equal('quiet');
    await eventually(() => requests[0]);
    expect(await fixture.storage.servers.quiet(registration.id)).to.include({
      outcome: 'ok',
      changed: false,
    });
    await fixture.storage.servers.stop(registration.id);
    await eventually(() => requests[1]);
    await registration.unregister();
    expect(requests).to.deep.equal(['quiet', 'stop']);
  });

  it('does not replace a request to stop by one to quiet', async () => {
    const [registration] = await register(fixture.newQueue());
    await fixture.storage.servers.stop(registration.id);
    expect(await fixture.storage.servers.quiet(registration.id)).to.include({
      outcome: 'ok',
      changed: false,
    });
    expect((await find(registration.id))?.requested).to.equal('stop');
    await registration.unregister();
  });

  for (const verb of ['quiet', 'stop'] as const) {
    it(`${verb} returns unknown for an unknown server`, async () => {
      expect(await fixture.storage.servers[verb](newId())).to.deep.equal({ outcome: 'unknown' });
      expect(await fixture.storage.servers[verb]('none')).to.deep.equal({ outcome: 'unknown' });
    });
  }

  it('does not count a quiet server as a consumer', async () => {
    const queue = fixture.newQueue();
    const [registration] = await register(queue);
    const consumers = async (): Promise<number | undefined> =>
      (await fixture.storage.queues.list()).find(({ name }) => name === queue)?.servers;
    expect(await consumers()).to.equal(1);
    registration.enter('quiet');
    await untilState(registration.id, 'quiet');
    expect(await consumers()).to.equal(0);
    await registration.unregister();
  });
}
