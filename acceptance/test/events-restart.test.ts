import { expect } from 'chai';
import { eventually } from '@longshore/test-support';
import { listen, type Listener } from './system/listener.js';
import { getJob, postTest } from './system/jobs.js';
import type { Service } from './system/service.js';
import { useSystem } from './system/system.js';

describe('a listener to events', () => {
  const system = useSystem({ API_TEST_JOB_MS: '20' });
  let other: Service;
  let listener: Listener | undefined;

  before(async () => {
    other = await system().start('api');
    await system().start('worker');
  });
  afterEach(() => listener?.stop());

  /** Enqueues jobs one at a time through the API that is not restarted. Resolves to their ids. */
  async function enqueue(count: number): Promise<string[]> {
    const ids: string[] = [];
    for (let number = 0; number < count; number++) {
      const { location } = await postTest(other.url);
      ids.push(location.slice(location.lastIndexOf('/') + 1));
    }
    return ids;
  }

  for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
    it(`misses no end while its api ends by ${signal} and another one replaces it`, async () => {
      const first = await system().start('api');
      const listening = listen(`${first.url}/api/v1/events?state=done`);
      listener = listening;
      await eventually(async () => listening.isConnected());

      const ids = await enqueue(30);
      await eventually(
        () => listening.jobs.size,
        (heard) => heard >= 5,
      );
      const enqueuing = enqueue(60);
      await first.end(signal);
      ids.push(...(await enqueuing));
      const missed = await enqueue(10);
      for (const id of missed)
        await eventually(
          () => getJob(`${other.url}/api/v1/jobs/${id}`),
          ({ state }) => state === 'done',
        );
      expect(missed.filter((id) => listening.jobs.has(id))).to.deep.equal([]);

      const next = await system().start('api');
      listening.moveTo(`${next.url}/api/v1/events?state=done`);
      ids.push(...missed, ...(await enqueue(10)));
      await eventually(
        () => ids.filter((id) => !listening.jobs.has(id)),
        (unheard) => unheard.length === 0,
      );
    });
  }

  it('does not keep an api from stopping: the api ends the stream, instead of breaking the connection', async () => {
    const api = await system().start('api');
    const stream = await fetch(`${api.url}/api/v1/events`, { headers: { accept: 'text/event-stream' } });
    const all = stream.text(); // rejects if the connection breaks before the end of the stream
    expect(await api.end('SIGTERM')).to.equal('exit 0');
    expect(await all).to.match(/^retry: /);
  });
});
