import { expect } from 'chai';
import { type Library, newBook, serveLibrary } from './support/library.js';

describe('Text from outside', () => {
  let api: Library;
  before(async () => (api = await serveLibrary()));
  after(() => api.close());

  const send = (body: Buffer) =>
    api.call('/api/v1/books', {
      method: 'POST',
      body: new Uint8Array(body),
      headers: { 'content-type': 'application/json' },
    });
  const withBytes = (text: string, bytes: readonly number[]): Buffer => {
    const [before = '', after = ''] = text.split('#');
    return Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from(after)]);
  };

  for (const [what, bytes] of Object.entries({
    'a byte that is never UTF-8': [0xff],
    'an overlong form': [0xc0, 0xaf],
    'an encoded surrogate': [0xed, 0xa0, 0x80],
    'half a character': [0xe2, 0x82],
  })) {
    it(`is refused in a body with ${what}, and the field is named`, async () => {
      const text = JSON.stringify({ ...newBook(), title: 'Em#ma', tags: [] });
      const { codes, messages } = await send(withBytes(text, bytes));
      expect([codes, messages]).to.deep.equal([[40001], 'title must be UTF-8']);
    });
  }

  it('is refused in the name of a field', async () => {
    const { messages } = await send(withBytes('{"details":[{"na#me":1}]}', [0xff]));
    expect(messages).to.equal('details[0].na\ufffdme must be UTF-8');
  });

  it('may have a replacement character of its own', async () => {
    const text = JSON.stringify(newBook({ title: '\ufffd' }));
    expect((await send(Buffer.from(text))).status).to.equal(201);
  });

  for (const [query, name] of [
    ['title=%ff', 'title'],
    ['status=lent&title=a%zz', 'title'],
    ['title=%00', 'title'],
    ['q=%c0%af', 'q'],
    ['%ff=1', 'The name of a parameter'],
  ] as const) {
    it(`is refused in ?${query}, and the parameter is named`, async () => {
      const { codes, messages } = await api.call(`/api/v1/books?${query}`);
      expect([codes, messages.startsWith(`${name} must`)]).to.deep.equal([[40003], true]);
    });
  }
});

describe('Times from outside', () => {
  let api: Library;
  before(async () => (api = await serveLibrary()));
  after(() => api.close());

  for (const time of [
    '2016-12-31T23:59:60Z',
    '2026-01-01T00:00:00%2B14:01',
    '2026-01-01T00:00:00-23:59',
    '0000-01-01T00:00:00Z',
    '0000-01-01',
    '0001-01-01T00:00:00%2B01:00',
    '2026-02-30T00:00:00Z',
    '2026-02-30',
    '2026-01-01T24:00:00Z',
    '2026-01-01T00:00Z',
    '2026-01-01T00:00:00',
    '2026-01-01%2000:00:00Z',
  ]) {
    it(`${time} is 400, and the parameter is named`, async () => {
      const { codes, messages } = await api.call(`/api/v1/books?createdAfter=${time}`);
      expect(codes).to.deep.equal([40003]);
      expect(messages).to.match(/^createdAfter must be a time/);
    });
  }

  for (const time of [
    '2026-01-01T00:00:00%2B14:00',
    '2026-01-01t00:00:00.123456789z',
    '0001-01-01',
    '9999-12-31',
  ])
    it(`${time} is accepted`, async () => {
      expect((await api.call(`/api/v1/books?createdAfter=${time}`)).status).to.equal(200);
    });
});

describe('Numbers from outside', () => {
  let api: Library;
  before(async () => (api = await serveLibrary()));
  after(() => api.close());

  for (const parameter of ['limit', 'offset', 'minPages', 'minPrice']) {
    for (const number of ['007', '1e1', '0x1', '+1', '.5', '5.', '١', 'NaN', '9007199254740993', '']) {
      it(`?${parameter}=${number} is 400`, async () => {
        const { codes, messages } = await api.call(
          `/api/v1/books?${parameter}=${encodeURIComponent(number)}`,
        );
        expect(codes).to.deep.equal([40003]);
        expect(messages).to.match(new RegExp(`^${parameter} must be`));
      });
    }
  }

  it('in a body must not lose digits', async () => {
    const { codes, messages } = await api.call('/api/v1/books', {
      method: 'POST',
      body: JSON.stringify(newBook()).replace('9.5', '9.5,"pages":9007199254740993'),
      headers: { 'content-type': 'application/json' },
    });
    expect([codes, messages]).to.deep.equal([[42202], 'pages must be <= 100000']);
  });
});
