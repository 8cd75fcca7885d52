import { createRateLimit } from '@longshore/resources';
import { expect } from 'chai';
import Type from 'typebox';
import { defineResource, type ResourceApiOptions } from '@longshore/resources';
import { serve } from './support/api.js';

describe('A rate limit', () => {
  it('allows a burst and then a number of requests per second', () => {
    let now = 0;
    const limit = createRateLimit({ perSecond: 2, burst: 3 }, () => now);
    const taken = (): boolean => limit.take('me').retryAfterSeconds === undefined;
    expect([taken(), taken(), taken(), taken()]).to.deep.equal([true, true, true, false]);
    now = 1_000;
    expect([taken(), taken(), taken()]).to.deep.equal([true, true, false]);
  });

  it('never saves up more than a burst', () => {
    let now = 0;
    const limit = createRateLimit({ perSecond: 10, burst: 2 }, () => now);
    limit.take('me');
    now = 3_600_000;
    const allowed = [1, 2, 3].filter(() => limit.take('me').retryAfterSeconds === undefined);
    expect(allowed).to.have.lengthOf(2);
  });

  it('counts each caller on its own', () => {
    const limit = createRateLimit({ perSecond: 1, burst: 1 }, () => 0);
    limit.take('one');
    expect(limit.take('other').retryAfterSeconds).to.equal(undefined);
  });

  it('reports what is left, when the burst is available again, and when to retry', () => {
    const limit = createRateLimit({ perSecond: 0.5, burst: 2 }, () => 0);
    const { headers } = limit.take('me');
    limit.take('me');
    expect(headers).to.deep.equal({
      'ratelimit-policy': '"default";q=2;w=4',
      ratelimit: '"default";r=1;t=2',
    });
    expect(limit.take('me').retryAfterSeconds).to.equal(2);
  });

  it('forgets the caller idle longest beyond ten thousand callers', () => {
    const limit = createRateLimit({ perSecond: 1, burst: 1 }, () => 0);
    const exceeds = (caller: string): boolean => limit.take(caller).retryAfterSeconds !== undefined;
    for (let caller = 0; caller < 10_001; caller += 1) exceeds(String(caller));
    expect([exceeds('1'), exceeds('0')]).to.deep.equal([true, false]);
  });
});

describe('A limited API', () => {
  const notes = defineResource({
    name: 'notes',
    item: Type.Object({ id: Type.String() }),
    storage: { get: async (id) => ({ id }) },
  });
  const serveNotes = (options: Partial<ResourceApiOptions>) =>
    serve({
      resources: [notes],
      rateLimit: createRateLimit({ perSecond: 0.001, burst: 2 }, () => 0),
      ...options,
    });

  it('answers 429 with Retry-After beyond the limit', async () => {
    const api = await serveNotes({});
    const answers = [];
    for (let call = 0; call < 3; call += 1) answers.push(await api.call('/api/v1/notes/1'));
    await api.close();
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 429]);
    expect(answers.map(({ headers }) => headers.get('ratelimit')?.slice(0, 13))).to.deep.equal([
      '"default";r=1',
      '"default";r=0',
      '"default";r=0',
    ]);
    expect(answers[2]?.codes).to.deep.equal([42901]);
    expect(answers[2]?.headers.get('retry-after')).to.equal('1000');
  });

  it('counts failed attempts by address, without affecting callers with credentials', async () => {
    const api = await serveNotes({
      authenticate: ({ headers }) =>
        headers['authorization'] === undefined ? undefined : { name: 'me', scopes: ['read'] },
    });
    const statuses = [];
    for (let call = 0; call < 3; call += 1) statuses.push((await api.call('/api/v1/notes/1')).status);
    const known = await api.call('/api/v1/notes/1', { headers: { authorization: 'Bearer x' } });
    await api.close();
    expect([...statuses, known.status]).to.deep.equal([401, 401, 429, 200]);
  });

  it('keeps its description open, and counts requests for it', async () => {
    const api = await serveNotes({ authenticate: () => undefined });
    const statuses = [];
    for (const path of ['openapi.json', 'docs', 'docs/start.js'])
      statuses.push((await api.call(`/api/v1/${path}`)).status);
    statuses.push((await api.call('/errors/42901')).status);
    await api.close();
    expect(statuses).to.deep.equal([200, 200, 429, 200]);
  });

  it('does not authenticate a request beyond the limit', async () => {
    let lookups = 0;
    const api = await serveNotes({
      authenticate: ({ headers }) => {
        lookups += 1;
        return headers['authorization'] === 'Bearer right' ? { name: 'me', scopes: ['read'] } : undefined;
      },
    });
    const call = (token: string): Promise<{ status: number }> =>
      api.call('/api/v1/notes/1', { headers: { authorization: `Bearer ${token}` } });
    const statuses = [];
    for (let count = 0; count < 4; count += 1) statuses.push((await call('right')).status);
    for (let count = 0; count < 4; count += 1) statuses.push((await call(`wrong ${count}`)).status);
    await api.close();
    expect(statuses).to.deep.equal([200, 200, 429, 429, 401, 429, 429, 429]);
    expect(lookups).to.equal(3);
  });

  it('answers 304 to callers that have its description', async () => {
    const api = await serve({ resources: [notes] });
    const first = await api.call('/api/v1/openapi.json');
    const etag = first.headers.get('etag') ?? '';
    const again = await api.call('/api/v1/openapi.json', { headers: { 'if-none-match': etag } });
    await api.close();
    expect([again.status, again.text]).to.deep.equal([304, '']);
  });
});
