import { StorageUnavailableError } from '@longshore/jobs';
import { eventually, httpClient } from '@longshore/test-support';
import { expect } from 'chai';
import Koa from 'koa';
import { AccessLog, createLogger, type EndedRequest, listen, observeRequests } from '../src/index.js';

const request: EndedRequest = {
  id: 'abc',
  traceId: null,
  method: 'GET',
  path: '/api/v1/jobs/7',
  route: '/api/v1/jobs/{id}',
  status: 200,
  durationMs: 12.345,
  bytes: 100,
  address: '192.0.2.1',
  isEventStream: false,
};

/** An access log with a limit of two lines per second, and its lines. */
function accessLog(linesPerSecond = 2) {
  const lines: Readonly<Record<string, unknown>>[] = [];
  const seconds: (() => void)[] = [];
  const logger = { info: (fields: object, msg: string) => void lines.push({ ...fields, msg }) };
  const log = new AccessLog(logger as never, linesPerSecond, (work) => void seconds.push(work));
  return {
    lines,
    endSecond: () => seconds.shift()?.(),
    add: (of: Partial<EndedRequest>) => log.add({ ...request, ...of }),
  };
}

describe('The access log', () => {
  it('has a line for each request, without its query', () => {
    const { lines, add } = accessLog();
    add({ traceId: 'f'.repeat(32) });
    expect(lines).to.deep.equal([
      {
        msg: 'request',
        requestId: 'abc',
        traceId: 'f'.repeat(32),
        method: 'GET',
        path: '/api/v1/jobs/7',
        route: '/api/v1/jobs/{id}',
        status: 200,
        durationMs: 12.3,
        bytes: 100,
        address: '192.0.2.1',
      },
    ]);
  });

  it('has no key or token that is part of a path', () => {
    const { lines, add } = accessLog();
    add({ path: `/api/v1/jobs/lsk_0192f4a2-7c1e-7d3a-9b55-2f6b1c9d8e01_${'s'.repeat(40)}/cancel` });
    expect(lines[0]?.['path']).to.equal('/api/v1/jobs/lsk_0192…/cancel');
  });

  it('counts the requests beyond the limit by status, and lists those of the next second again', () => {
    const { lines, add, endSecond } = accessLog();
    for (const status of [200, 200, 200, 200, 404]) add({ status });
    endSecond();
    add({});
    expect(lines.map(({ msg, statuses }) => statuses ?? msg)).to.deep.equal([
      'request',
      'request',
      { 200: 2, 404: 1 },
      'request',
    ]);
  });

  it('has a limit of its own for errors, so that neither crowds out the other', () => {
    const { lines, add, endSecond } = accessLog();
    for (let index = 0; index < 3_468; index++) add({ status: 503 });
    add({ status: 200 });
    endSecond();
    expect(lines.filter(({ status }) => status === 503)).to.have.length(20);
    expect(lines.filter(({ status }) => status === 200)).to.have.length(1);
    expect(lines.at(-1)).to.deep.include({ statuses: { 503: 3_448 } });
  });

  it('has only errors with a limit of 0', () => {
    const { lines, add, endSecond } = accessLog(0);
    for (const status of [200, 404, 500]) add({ status });
    endSecond();
    expect(lines.map(({ status }) => status)).to.deep.equal([500]);
  });

  it('leaves out probes and scrapes unless they fail', () => {
    const { lines, add } = accessLog();
    for (const route of ['/healthz', '/readyz', '/platform/metrics', '/metrics/storage']) add({ route });
    add({ route: '/readyz', status: 503 });
    expect(lines.map(({ status }) => status)).to.deep.equal([503]);
  });

  it('has a line for a failing probe when its status changes, and not for each repetition', () => {
    const { lines, add } = accessLog();
    for (const status of [503, 503, 503, 200, 200, 503, 500]) add({ route: '/readyz', status });
    expect(lines.map(({ status }) => status)).to.deep.equal([503, 503, 500]);
  });
});

describe('The log of a service', () => {
  /** Returns the lines that a service logs while `work` runs. */
  async function linesOf(
    handle: (logger: ReturnType<typeof createLogger>, context: Koa.Context) => unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const lines: Readonly<Record<string, unknown>>[] = [];
    const logger = createLogger('test', 'info', (line) => void lines.push(JSON.parse(line) as never));
    const app = new Koa();
    const log = new AccessLog(logger, 100);
    app.use(observeRequests([log.add]));
    app.use(async (context) => {
      await Promise.resolve();
      context.body = 'answer';
      handle(logger, context);
    });
    const listening = {
      HOST: '127.0.0.1',
      PORT: 0,
      HTTP_MAX_CONNECTIONS: 100,
      HTTP_MAX_CONNECTIONS_PER_ADDRESS: 100,
      HTTP_KEEP_ALIVE_MS: 75_000,
      HTTP_STOP_TIMEOUT_MS: 3_600_000,
    };
    const listener = await listen(app, listening, logger);
    await httpClient(`http://127.0.0.1:${listener.port}`).get('/orders?token=hunter2', { headers });
    await eventually(() => lines.some(({ msg }) => msg === 'request'));
    await listener.close();
    return lines;
  }

  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  const headers = { 'x-request-id': 'r-1', traceparent: `00-${traceId}-00f067aa0ba902b7-01` };

  it('names the service, its version and its instance on every line', async () => {
    for (const line of await linesOf(() => undefined)) {
      expect(line).to.include({ service: 'test' });
      expect(line['version']).to.match(/^\d+\.\d+\.\d+/);
      expect(line['instance']).to.match(new RegExp(`:${process.pid}$`));
    }
  });

  it('names the request and its trace on every line that is written while it is handled', async () => {
    const lines = await linesOf((logger) => logger.warn({ order: 7 }, 'out of stock'), headers);
    const ids = { requestId: 'r-1', traceId };
    expect(lines.find(({ msg }) => msg === 'out of stock')).to.include({ ...ids, order: 7 });
    expect(lines.find(({ msg }) => msg === 'request')).to.include({
      ...ids,
      path: '/orders',
      status: 200,
      bytes: 6,
    });
    expect(lines.find(({ msg }) => msg === 'listening')).not.to.have.property('requestId');
  });

  it('has no secret under its key, at any depth, in an error or in a URL', async () => {
    const error = Object.assign(new StorageUnavailableError('no postgres://app:hunter2@db/jobs'), {
      headers: { authorization: 'Bearer hunter2' },
    });
    const lines = await linesOf((logger) => {
      logger.info({ call: { apiKey: 'hunter2', list: [{ password: 'hunter2' }], rows: 3 } }, 'called');
      logger.error({ err: error }, 'failed');
    });
    expect(JSON.stringify(lines)).not.to.contain('hunter2');
    expect(lines.find(({ msg }) => msg === 'called')).to.deep.include({
      call: { apiKey: '[redacted]', list: [{ password: '[redacted]' }], rows: 3 },
    });
    const failed = lines.find(({ msg }) => msg === 'failed')?.['err'] as { message: string; stack: string };
    expect(failed.message).to.contain('postgres://app:[redacted]@db/jobs');
    expect(failed.stack).to.contain('access-log.test');
  });
});
