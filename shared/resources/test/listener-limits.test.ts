import { once } from 'node:events';
import { expect } from 'chai';
import Type from 'typebox';
import { defineResource, type ListenerLimits } from '@longshore/resources';
import { eventually, listenToEvents } from '@longshore/test-support';
import { serve, type TestApi } from './support/api.js';

const happenings = defineResource({
  name: 'happenings',
  item: Type.Object({ id: Type.String() }),
  storage: {
    stream: async (_query, _context, signal) => ({
      events: (async function* () {
        yield { id: '1', data: { id: 'first' } };
        if (!signal.aborted) await once(signal, 'abort');
      })(),
    }),
  },
});

const notes = defineResource({
  name: 'notes',
  item: Type.Object({ id: Type.String() }),
  storage: {
    get: async (id) => ({ id }),
    wait: async (id, timeoutMs, _context, signal) => {
      if (timeoutMs > 0 && !signal.aborted) await once(signal, 'abort');
      return { id };
    },
  },
});

const serveFor = (listenerLimits: ListenerLimits): Promise<TestApi> =>
  serve({
    resources: [happenings, notes],
    listenerLimits,
    authenticate: ({ headers }) => ({ name: headers['authorization'] ?? 'somebody', scopes: ['read'] }),
  });

describe('Streams and waits', () => {
  it('are limited for each caller, independently of others', async () => {
    const api = await serveFor({ perCaller: 1 });
    const stream = await listenToEvents(`${api.url}/api/v1/happenings`);
    const refused = await api.call('/api/v1/notes/1?wait=1');
    const other = await listenToEvents(`${api.url}/api/v1/happenings`, { authorization: 'other' });
    const atOnce = await api.call('/api/v1/notes/1?wait=0');
    stream.close();
    other.close();
    await api.close();
    expect([refused.status, refused.codes]).to.deep.equal([429, [42902]]);
    expect(Number(refused.headers.get('retry-after'))).to.be.above(0);
    expect([other.status, atOnce.status]).to.deep.equal([200, 200]);
  });

  it('are limited even if the name of the parameter is percent-encoded', async () => {
    const api = await serveFor({ perCaller: 1 });
    const stream = await listenToEvents(`${api.url}/api/v1/happenings`);
    const refused = await api.call('/api/v1/notes/1?w%61it=1');
    stream.close();
    await api.close();
    expect(refused.codes).to.deep.equal([42902]);
  });

  it('are limited in total', async () => {
    const api = await serveFor({ total: 1 });
    const stream = await listenToEvents(`${api.url}/api/v1/happenings`);
    const refused = await api.call('/api/v1/happenings', { headers: { authorization: 'other' } });
    stream.close();
    await api.close();
    expect([refused.status, refused.codes]).to.deep.equal([503, [50303]]);
    expect(Number(refused.headers.get('retry-after'))).to.be.above(0);
  });

  it('no longer count when they end', async () => {
    const api = await serveFor({ total: 1, perCaller: 1 });
    (await listenToEvents(`${api.url}/api/v1/happenings`)).close();
    await eventually(async () => {
      const next = await listenToEvents(`${api.url}/api/v1/happenings`);
      next.close();
      return next.status === 200;
    });
    await api.close();
  });
});
