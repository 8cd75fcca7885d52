import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import Type from 'typebox';
import { defineResource } from '@longshore/resources';
import { serve, type TestApi } from './support/api.js';

const notes = defineResource({
  name: 'notes',
  item: Type.Object({ id: Type.String(), text: Type.String() }),
  storage: { get: async (id) => ({ id, text: '' }), create: async (body) => body },
});

describe('A body that is too large', () => {
  let api: TestApi;
  let socket: Socket;
  before(async () => {
    api = await serve({ resources: [notes], bodyLimitBytes: 10_000 });
  });
  beforeEach(async () => {
    const { hostname, port } = new URL(api.url);
    socket = connect(Number(port), hostname);
    await once(socket, 'connect');
  });
  afterEach(() => socket.destroy());
  after(() => api.close());

  const head = (...headers: readonly string[]): string =>
    ['POST /api/v1/notes HTTP/1.1', 'Host: x', 'Content-Type: application/json', ...headers, '', ''].join(
      '\r\n',
    );
  const next = 'GET /api/v1/notes/1 HTTP/1.1\r\nHost: x\r\n\r\n';
  const long = JSON.stringify({ id: '1', text: 'x'.repeat(200_000) });
  const chunked = (body: string | Buffer): Buffer => {
    const bytes = Buffer.from(body);
    return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
  };
  const zipped = gzipSync(long);

  const ways: Readonly<Record<string, () => void>> = {
    'with its length': () => {
      socket.write(head(`Content-Length: ${long.length}`));
      socket.write(long);
    },
    'in chunks': () => {
      socket.write(head('Transfer-Encoding: chunked'));
      socket.write(Buffer.concat([chunked(long), Buffer.from('0\r\n\r\n')]));
    },
    'in chunks without an end': () => {
      socket.write(head('Transfer-Encoding: chunked'));
      socket.write(chunked(long));
    },
    compressed: () => {
      socket.write(head('Content-Encoding: gzip', `Content-Length: ${zipped.length}`));
      socket.write(zipped);
    },
    'compressed, in chunks': () => {
      socket.write(head('Content-Encoding: gzip', 'Transfer-Encoding: chunked'));
      socket.write(Buffer.concat([chunked(zipped), Buffer.from('0\r\n\r\n')]));
    },
    'announced by Expect: 100-continue': () => {
      socket.write(head('Expect: 100-continue', 'Transfer-Encoding: chunked'));
      socket.write(chunked(long));
    },
    'with another request right behind it': () => {
      socket.write(head('Transfer-Encoding: chunked'));
      socket.write(Buffer.concat([chunked(long), Buffer.from('0\r\n\r\n'), Buffer.from(next)]));
    },
  };
  for (const [way, send] of Object.entries(ways))
    it(`is answered with 413, and the connection is closed: ${way}`, async () => {
      const received = text(socket); // ends when the server closes the connection
      send();
      const [start = '', ...rest] = (await received)
        .replace(/^HTTP\/1\.1 100 [^]*?\r\n\r\n/, '')
        .split('\r\n\r\n');
      expect(start).to.match(/^HTTP\/1\.1 413 /);
      expect(start).to.match(/\r\nConnection: close/i);
      const { errors } = JSON.parse(rest.join('\r\n\r\n')) as { errors: { code: number }[] };
      expect(errors.map(({ code }) => code)).to.deep.equal([41301]);
    });
});

describe('A body that is compressed', () => {
  let api: TestApi;
  before(async () => {
    api = await serve({ resources: [notes] });
  });
  after(() => api.close());

  const note = JSON.stringify({ id: '1', text: 'hello' });
  const send = (encoding: string, body: Buffer) =>
    api.call('/api/v1/notes', {
      method: 'POST',
      body: new Uint8Array(body),
      headers: { 'content-type': 'application/json', 'content-encoding': encoding },
    });

  for (const [encoding, body] of Object.entries({
    gzip: gzipSync(note),
    GZIP: gzipSync(note),
    deflate: deflateSync(note),
    br: brotliCompressSync(note),
    identity: Buffer.from(note),
  }))
    it(`is read with Content-Encoding: ${encoding}`, async () => {
      expect((await send(encoding, body)).status).to.equal(201);
    });

  it('is answered with 415 in an encoding that is not supported', async () => {
    expect((await send('zstd', Buffer.from(note))).codes).to.deep.equal([41501]);
  });

  it('is answered with 400 if it is damaged', async () => {
    expect((await send('gzip', Buffer.from(note))).codes).to.deep.equal([40001]);
  });
});
