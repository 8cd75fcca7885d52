import { threadedRequest, turnsDuring } from '@longshore/test-support';
import { expect } from 'chai';
import Type from 'typebox';
import { defineResource } from '@longshore/resources';
import { type Answer, serve, type TestApi } from './support/api.js';

/** How often a large request must at least let other requests in, see {@link turnsDuring}. */
const minTurns = 3;

const Line = Type.Object({ text: Type.String({ maxLength: 10 }), n: Type.Optional(Type.Integer()) });

const Note = Type.Object({
  id: Type.String(),
  lines: Type.Array(Line, { maxItems: 10_000 }),
  data: Type.Unknown(),
  at: Type.Optional(Type.String({ format: 'date-time' })),
});

const notes = defineResource({
  name: 'notes',
  item: Note,
  filters: { id: 'exact', data: 'path' },
  search: ['id'],
  storage: {
    seeks: true,
    list: async () => ({ items: [], total: 0 }),
    get: async (id) => ({ id, lines: [], data: 0n }),
    create: async (body) => body,
    createMany: async (bodies) => bodies,
    replaceMany: async () => [],
  },
});

describe('A large request', () => {
  let api: TestApi;
  before(async () => {
    api = await serve({ resources: [notes], bodyLimitBytes: 32 * 1024 * 1024 });
  });
  after(() => api.close());

  const post = (body: string): Promise<Answer> =>
    api.call('/api/v1/notes', { method: 'POST', body, headers: { 'content-type': 'application/json' } });

  const bad = (count: number): string =>
    JSON.stringify(Array.from({ length: count }, () => ({ id: 1, x: 1 })));

  it('with an array that is too long is answered with only that problem', async () => {
    const { status, messages } = await post(bad(300_000));
    expect(status).to.equal(422);
    expect(messages).to.equal('the body must have at most 10000 elements, not 300000');
  });

  it('with too many changes is answered with only that problem', async () => {
    const json = Array.from({ length: 10_001 }, () => 0);
    const { messages } = await api.call('/api/v1/notes', { method: 'PUT', json });
    expect(messages).to.equal('the body must have at most 10000 elements, not 10001');
  });

  it('with a nested array that is too long is answered with only that problem', async () => {
    const { messages } = await post(`{"id":"1","data":1,"lines":${bad(100_000)}}`);
    expect(messages).to.equal('lines must have at most 10000 items');
  });

  it('with a query that is too long is told the limit', async () => {
    const { status, messages } = await api.call(`/api/v1/notes?q=${'x'.repeat(12_000)}`);
    expect(status).to.equal(414);
    expect(messages).to.include('at most 12000 are allowed');
  });

  it('gets only the links that fit into a header, first of all the next one', async () => {
    const { status, headers } = await api.call(
      `/api/v1/notes?id=${'x'.repeat(5_500)}&id=${'y'.repeat(5_500)}`,
    );
    expect(status).to.equal(200);
    expect(headers.get('link')?.length).to.be.below(13_000);
    expect(headers.get('link')).to.include('rel="');
  });

  for (const time of ['9999-12-31T23:59:59.999-12:00', '2016-12-31T23:59:60Z', '2026-02-30T00:00:00Z']) {
    it(`with ${time}, which cannot be formatted again, is refused`, async () => {
      const json = { id: '1', data: 1, lines: [], at: time };
      const { status, messages } = await api.call('/api/v1/notes', { method: 'POST', json });
      expect(status).to.equal(422);
      expect(messages).to.include('at must be a time');
    });
  }

  it('is told its first hundred problems and their total number', async () => {
    const { body, codes } = await post(bad(10_000));
    const { errors } = body as { errors: readonly { internalMessage: string }[] };
    expect(codes).to.have.lengthOf(101);
    expect(errors.at(-1)?.internalMessage).to.equal(
      '39900 more problems are not listed; there are 40000 in total',
    );
  });

  it('is told the problems of a nested array in the same way', async () => {
    const { codes, messages } = await post(`{"id":"1","data":1,"lines":${bad(10_000)}}`);
    expect(codes).to.have.lengthOf(101);
    expect(messages).to.match(/^lines\[0\]\.text is missing\n/);
  });

  const elements: Readonly<Record<string, () => string>> = {
    'ten thousand bad elements': () => bad(10_000),
    'ten thousand bad elements of a nested array': () => `{"id":"1","data":1,"lines":${bad(10_000)}}`,
  };
  for (const [what, body] of Object.entries(elements))
    it(`lets other requests in while it is checked: ${what}`, async () => {
      const text = body();
      const send = (): Promise<number> => threadedRequest('POST', `${api.url}/api/v1/notes`, text);
      expect(await turnsDuring(send)).to.be.at.least(minTurns);
    });

  // These are checked in one piece. The benchmark `large-requests` measures how long others wait.
  const pieces: Readonly<Record<string, readonly [status: number, body: () => string]>> = {
    'ten thousand unknown fields': [
      422,
      () =>
        JSON.stringify(Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`f${index}`, 0]))),
    ],
    'half a million small values': [201, () => `{"id":"1","lines":[],"data":[${'0,'.repeat(500_000)}0]}`],
    'an unstorable value after half a million others': [
      422,
      () => `{"id":"1","lines":[],"data":[${'0,'.repeat(500_000)}"\\u0000"]}`,
    ],
  };
  for (const [what, [expected, body]] of Object.entries(pieces))
    it(`is checked completely: ${what}`, async () => {
      expect((await post(body())).status).to.equal(expected);
    });

  it('that names one parameter a thousand times is refused', async () => {
    const { status, messages } = await api.call(`/api/v1/notes?${'id=1&'.repeat(1_000)}`);
    expect([status, messages]).to.deep.equal([400, 'id must be given at most 100 times']);
  });

  it('with hundreds of parameters is refused', async () => {
    const query = Array.from({ length: 500 }, (_, index) => `data.m${index}=1`).join('&');
    const { status, messages } = await api.call(`/api/v1/notes?${query}`);
    expect([status, messages]).to.deep.equal([400, 'a query must have at most 100 different parameters']);
  });

  it('for a deeply nested member is refused', async () => {
    const { status } = await api.call(`/api/v1/notes?data${'.a'.repeat(11)}=1`);
    expect(status).to.equal(400);
  });

  it('that searches for more than a thousand characters is refused', async () => {
    expect((await api.call(`/api/v1/notes?q=${'a'.repeat(1_001)}`)).status).to.equal(400);
  });

  it('with a large offset is told to use a cursor', async () => {
    const { status, messages } = await api.call('/api/v1/notes?offset=10001');
    expect(status).to.equal(400);
    expect(messages).to.match(/^offset must be an integer from 0 to 10000, .*`after` and `before`/);
    expect((await api.call('/api/v1/notes?offset=10000')).status).to.equal(200);
  });
});

describe('An answer that cannot be serialized', () => {
  it('becomes an error with the usual payload', async () => {
    const endless: unknown[] = [];
    const circles = defineResource({
      name: 'circles',
      item: Type.Object({ id: Type.String(), data: Type.Unknown() }),
      storage: {
        list: async () => {
          endless.push(endless);
          return { items: [{ id: '1', data: endless }], total: 1 };
        },
      },
    });
    const api = await serve({ resources: [circles] });
    const { status, codes, headers } = await api.call('/api/v1/circles');
    await api.close();
    expect([status, codes, headers.get('link')]).to.deep.equal([500, [50001], null]);
    expect(api.incidents).to.have.lengthOf(1);
  });
});
