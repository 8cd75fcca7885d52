import { Throttle } from '@longshore/resources';
import { expect } from 'chai';
import Type from 'typebox';
import { defineResource, type ResourceApiOptions } from '@longshore/resources';
import { serve } from './support/api.js';

describe('A limited API', () => {
  const notes = defineResource({
    name: 'notes',
    item: Type.Object({ id: Type.String() }),
    storage: { get: async (id) => ({ id }) },
  });
  const serveNotes = (options: Partial<ResourceApiOptions>) =>
    serve({
      resources: [notes],
      rateLimit: new Throttle({ perSecond: 0.001, burst: 2 }, () => 0),
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
