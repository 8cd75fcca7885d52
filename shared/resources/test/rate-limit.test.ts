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
  const serveNotes = (options: Partial<ResourceApiOptions>, extend?: Parameters<typeof serve>[1]) =>
    serve(
      {
        resources: [notes],
        rateLimit: new Throttle({ perSecond: 0.001, burst: 2 }, () => 0),
        ...options,
      },
      extend,
    );

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

  for (const [callers, headers] of [
    ['callers without credentials', {}],
    ['guesses of a key', { authorization: 'Bearer wrong' }],
  ] as const)
    it(`counts ${callers} by network, so that nobody gains from another IPv6 address of the same /64`, async () => {
      const api = await serveNotes({ authenticate: () => undefined }, (app) => (app.proxy = true));
      const statusFrom = async (address: string): Promise<number> =>
        (await api.call('/api/v1/notes/1', { headers: { ...headers, 'x-forwarded-for': address } })).status;
      const statuses = [];
      for (const address of ['2001:db8:0:1::1', '2001:db8:0:1:ffff::2', '2001:DB8:0:1:3:4:5:6'])
        statuses.push(await statusFrom(address));
      statuses.push(await statusFrom('2001:db8:0:2::1'));
      await api.close();
      expect(statuses).to.deep.equal([401, 401, 429, 401]);
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
