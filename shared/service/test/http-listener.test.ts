import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { eventually } from '@longshore/test-support';
import { expect } from 'chai';
import Koa from 'koa';
import { createLogger, type HttpListener, listen } from '../src/index.js';

const hourMs = 3_600_000;

describe('An HTTP listener', () => {
  let listener: HttpListener;
  let held: Socket;
  /** What requests wait for. */
  let pending: Promise<void> | undefined;
  beforeEach(() => (pending = undefined));
  const start = async (
    limits: { total: number; perAddress: number },
    stopTimeoutMs = hourMs,
  ): Promise<void> => {
    const app = new Koa();
    app.use(async (context) => {
      await pending;
      context.body = 'here';
    });
    listener = await listen(
      app,
      {
        HOST: '127.0.0.1',
        PORT: 0,
        HTTP_MAX_CONNECTIONS: limits.total,
        HTTP_MAX_CONNECTIONS_PER_ADDRESS: limits.perAddress,
        HTTP_KEEP_ALIVE_MS: hourMs,
        HTTP_STOP_TIMEOUT_MS: stopTimeoutMs,
      },
      createLogger('test', 'silent'),
    );
    held = connect(listener.port, '127.0.0.1');
    await once(held, 'connect');
    // Waits for a response, because by then the server has counted the connection as open.
    held.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(held, 'data');
  };
  afterEach(async () => {
    held.destroy();
    await listener.close();
  });

  const answerFrom = (localAddress: string): Promise<string> =>
    text(connect({ port: listener.port, host: '127.0.0.1', localAddress }));
  const isServed = async (localAddress: string): Promise<boolean> => {
    const socket = connect({ port: listener.port, host: '127.0.0.1', localAddress });
    socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    return (await text(socket)).startsWith('HTTP/1.1 200');
  };

  it('responds to connections beyond its limit with 503 and Retry-After', async () => {
    await start({ total: 1, perAddress: 10 });
    const answer = await answerFrom('127.0.0.2');
    expect(answer)
      .to.match(/^HTTP\/1\.1 503 /)
      .and.to.contain('Retry-After: ')
      .and.to.contain('"code":50303');
  });

  it('serves other addresses when one has too many connections', async () => {
    await start({ total: 10, perAddress: 1 });
    expect(await answerFrom('127.0.0.1')).to.match(/^HTTP\/1\.1 503 /);
    expect(await isServed('127.0.0.2')).to.equal(true);
  });

  it('announces how long it keeps idle connections, and does not wait for that when it stops', async () => {
    await start({ total: 2, perAddress: 2 });
    held.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    const [answer] = (await once(held, 'data')) as [Buffer];
    expect(answer.toString()).to.contain('Keep-Alive: timeout=3600\r\n');
    await Promise.all([once(held, 'close'), listener.close()]);
  });

  it('answers a request in progress when it stops, and announces the end of the connection', async () => {
    await start({ total: 2, perAddress: 2 });
    let release = (): void => undefined;
    pending = new Promise((resolve) => (release = resolve));
    const arrived = once(listener.server, 'request');
    held.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await arrived;
    const closed = listener.close();
    expect(listener.server.listening).to.equal(false);
    release();
    expect(await text(held))
      .to.match(/^HTTP\/1\.1 200 /)
      .and.to.contain('Connection: close\r\n');
    await closed;
  });

  it('accepts connections again after one is closed', async () => {
    await start({ total: 1, perAddress: 1 });
    held.destroy();
    await eventually(() => isServed('127.0.0.1').catch(() => false));
  });
});
