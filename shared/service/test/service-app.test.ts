import { PassThrough } from 'node:stream';
import { httpClient } from '@longshore/test-support';
import { expect } from 'chai';
import { pino } from 'pino';
import { createServiceApp, listen } from '../src/index.js';

/** Sends one request per value of `X-Forwarded-For`. Returns the client addresses and warnings of the service. */
async function seen(trusted: number, forwarded: readonly string[]) {
  const stream = new PassThrough();
  const lines: string[] = [];
  stream.on('data', (line: Buffer) => lines.push(line.toString()));
  const logger = pino({ level: 'warn' }, stream);
  const app = createServiceApp({ HTTP_TRUSTED_PROXIES: trusted }, logger);
  app.use((ctx) => {
    ctx.body = ctx.ip;
  });
  const listener = await listen(
    app,
    {
      HOST: '127.0.0.1',
      PORT: 0,
      HTTP_MAX_CONNECTIONS: 100,
      HTTP_MAX_CONNECTIONS_PER_ADDRESS: 100,
      HTTP_KEEP_ALIVE_MS: 75_000,
      HTTP_STOP_TIMEOUT_MS: 3_600_000,
    },
    logger,
  );
  const client = httpClient(`http://127.0.0.1:${listener.port}`);
  const addresses = [];
  for (const value of forwarded)
    addresses.push((await client.get('/', { headers: { 'x-forwarded-for': value } })).text);
  await client.get('/');
  await listener.close();
  return { addresses, warnings: lines };
}

describe('A service that trusts no proxy', () => {
  it('ignores forwarded addresses, and warns once that there may be a proxy', async () => {
    const { addresses, warnings } = await seen(0, ['192.0.2.1', '192.0.2.2']);
    expect(addresses).to.deep.equal(['127.0.0.1', '127.0.0.1']);
    expect(warnings).to.have.length(1);
    expect(warnings[0]).to.contain('HTTP_TRUSTED_PROXIES is 0');
  });

  it('does not warn without a proxy', async () => {
    expect((await seen(0, [])).warnings).to.deep.equal([]);
  });
});

describe('A service that trusts a proxy', () => {
  it('uses the address that the proxy reports, not the one that the client claims', async () => {
    const { addresses, warnings } = await seen(1, ['192.0.2.1', '6.6.6.6, 192.0.2.2']);
    expect([addresses, warnings]).to.deep.equal([['192.0.2.1', '192.0.2.2'], []]);
  });
});
