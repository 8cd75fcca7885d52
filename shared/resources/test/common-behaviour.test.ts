import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import pg from 'pg';
import Type from 'typebox';
import {
  defineResource,
  type IdempotencyStore,
  idempotencyTable,
  memoryIdempotencyStore,
  tableIdempotencyStore,
} from '@longshore/resources';
import { createTestDatabase } from '@longshore/test-support';
import { serve, type TestApi } from './support/api.js';
import { type Library, newBook, serveLibrary } from './support/library.js';

describe('Idempotency-Key', () => {
  const stores: Readonly<
    Record<string, () => Promise<{ store: IdempotencyStore; drop: () => Promise<void> }>>
  > = {
    'in memory': async () => ({ store: memoryIdempotencyStore(), drop: async () => {} }),
    'in a table': async () => {
      const database = await createTestDatabase();
      await database.query(idempotencyTable('idempotency_record'));
      const pool = new pg.Pool({ connectionString: database.url });
      const drop = async (): Promise<void> => {
        await pool.end();
        await database.drop();
      };
      return { store: tableIdempotencyStore(pool, 'idempotency_record'), drop };
    },
  };

  for (const [name, open] of Object.entries(stores)) {
    describe(name, () => {
      let api: TestApi;
      let drop: () => Promise<void>;
      let performed = 0;
      let slowBegins: (release: () => void) => void;
      before(async () => {
        const opened = await open();
        drop = opened.drop;
        const notes = defineResource({
          name: 'notes',
          item: Type.Object({ id: Type.Integer(), text: Type.String() }),
          serverSet: ['id'],
          storage: {
            create: async ({ text }) => {
              performed += 1;
              if (text === 'slow') await new Promise<void>((resolve) => slowBegins(resolve));
              if (text === 'broken' && performed % 2 === 1) throw new Error('broken');
              return { id: performed, text };
            },
          },
        });
        api = await serve({ resources: [notes], idempotency: opened.store });
      });
      beforeEach(() => (performed = 0));
      after(async () => {
        await api.close();
        await drop();
      });

      const post = (key: string, text: string) =>
        api.call('/api/v1/notes', { method: 'POST', json: { text }, headers: { 'idempotency-key': key } });

      it('answers a repeated request with the first answer', async () => {
        const key = randomUUID();
        const [first, second] = [await post(key, 'a'), await post(key, 'a')];
        expect(performed).to.equal(1);
        expect([second.status, second.text, second.headers.get('location')]).to.deep.equal([
          first.status,
          first.text,
          first.headers.get('location'),
        ]);
      });

      it('marks the repeated answer, and only that', async () => {
        const key = randomUUID();
        const answers = [await post(key, 'a'), await post(key, 'a'), await post(randomUUID(), 'a')];
        expect(answers.map(({ headers }) => headers.get('idempotent-replayed'))).to.deep.equal([
          null,
          'true',
          null,
        ]);
      });

      it('refuses another body with 422', async () => {
        const key = randomUUID();
        await post(key, 'a');
        expect((await post(key, 'b')).status).to.equal(422);
      });

      it('answers 409 while the first request is running', async () => {
        const key = randomUUID();
        const running = new Promise<() => void>((resolve) => (slowBegins = resolve));
        const first = post(key, 'slow');
        const release = await running;
        const second = await post(key, 'slow');
        release();
        expect(second.status).to.equal(409);
        expect((await first).status).to.equal(201);
      });

      it('lets a failed request be sent again', async () => {
        const key = randomUUID();
        expect([(await post(key, 'broken')).status, (await post(key, 'broken')).status]).to.deep.equal([
          500, 201,
        ]);
      });

      it('refuses a malformed key', async () => {
        expect((await post('two words', 'a')).codes).to.deep.equal([40003]);
      });
    });
  }

  it('forgets an answer after 24 hours', async () => {
    let now = 0;
    const store = memoryIdempotencyStore(() => now);
    let performed = 0;
    const perform = () =>
      store.perform({ key: 'k', fingerprint: 'f' }, async () => {
        performed += 1;
        const response = { status: 201, headers: {} };
        return { response, record: response };
      });
    await perform();
    now += 24 * 60 * 60 * 1000 - 1;
    await perform();
    expect(performed).to.equal(1);
    now += 1;
    await perform();
    expect(performed).to.equal(2);
  });
});

describe('Every answer', () => {
  let api: Library;
  before(async () => (api = await serveLibrary({ corsOrigins: ['https://app.example.com'] })));
  after(() => api.close());

  it('has a request id, the one of the caller if present', async () => {
    const own = await api.call('/api/v1/books', { headers: { 'x-request-id': 'abc-1' } });
    const given = await api.call('/nothing');
    expect(own.headers.get('x-request-id')).to.equal('abc-1');
    expect(given.headers.get('x-request-id')).to.match(/^[0-9a-f-]{36}$/);
  });

  it('has security headers', async () => {
    const { headers } = await api.call('/api/v1/nothing');
    expect(headers.get('x-content-type-options')).to.equal('nosniff');
    expect(headers.get('content-security-policy')).to.contain("default-src 'none'");
  });

  it('exposes its headers to allowed origins, and to no others', async () => {
    const allowed = await api.call('/api/v1/books', { headers: { origin: 'https://app.example.com' } });
    const other = await api.call('/api/v1/books', { headers: { origin: 'https://evil.example.com' } });
    expect(allowed.headers.get('access-control-allow-origin')).to.equal('https://app.example.com');
    expect(allowed.headers.get('access-control-expose-headers'))
      .to.contain('X-Total-Count')
      .and.contain('Link');
    expect(other.headers.has('access-control-allow-origin')).to.equal(false);
  });

  it('to a preflight names the methods of the route', async () => {
    const { status, headers } = await api.call('/api/v1/books', {
      method: 'OPTIONS',
      headers: { origin: 'https://app.example.com', 'access-control-request-method': 'PUT' },
    });
    expect(status).to.equal(204);
    expect(headers.get('access-control-allow-methods')).to.equal('GET, HEAD, POST, PUT, DELETE, OPTIONS');
  });

  for (const encoding of ['gzip', 'br']) {
    it(`is compressed with ${encoding} if it is large, with an ETag that can still be sent back`, async () => {
      const { body } = await api.call('/api/v1/books', {
        method: 'POST',
        json: newBook({ details: { isbn: 'x'.repeat(2000) } }),
      });
      const path = `/api/v1/books/${(body as { id: string }).id}`;
      const packed = await api.call(path, { headers: { 'accept-encoding': encoding } });
      const etag = packed.headers.get('etag') ?? '';
      expect(packed.headers.get('content-encoding')).to.equal(encoding);
      expect(packed.body).to.deep.equal(body);
      expect(etag).to.match(new RegExp(`-${encoding}"$`));
      expect((await api.call(path, { headers: { 'if-none-match': etag } })).status).to.equal(304);
      expect((await api.call(path, { method: 'DELETE', headers: { 'if-match': etag } })).status).to.equal(
        204,
      );
    });
  }

  it('builds links from the configured base URL, not from the Host header', async () => {
    const { headers } = await api.call('/api/v1/books', { headers: { host: 'evil.example.com' } });
    expect(headers.get('link')).to.contain('https://api.example.com/').and.not.contain('evil');
  });
});
