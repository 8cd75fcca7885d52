import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, isIP, Server as NetServer } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { createApplication, shorten } from '@longshore/edge';
// Not from the package's index, which would add a fifth to the time in which a worker is loaded.
import { limitConnections } from '@longshore/resources/connection-limit';
import Koa from 'koa';
import type { Logger } from 'pino';
import { listOf } from './config.js';
import type { Readiness } from './health.js';

/** Time limit for receiving the headers of a request, in milliseconds. */
const headersMs = 20_000;
/** Time limit for receiving a whole request, in milliseconds. */
const requestMs = 120_000;

/** How often a closing listener closes idle connections, in milliseconds. */
const idleCheckMs = 50;

/** How long no request may arrive before a closing listener closes idle connections, in milliseconds. */
const reuseMs = 1_000;

/** Before it closes, a listener waits up to this long, in milliseconds, for a moment when no client is connecting. */
const quietMs = 2_000;

/** How long a turn of the event loop may take after which the listener is closed, in milliseconds. */
const shortTurnMs = 1;

/** The default of `HTTP_DRAIN_MS` in production: kube-proxy and most load balancers notice within a few seconds. */
const productionDrainMs = 5_000;

export interface HttpListener {
  readonly server: Server;
  readonly port: number;
  /**
   * Stops accepting connections. Requests on open connections are still answered, with `Connection: close`.
   * Resolves when all connections are closed: idle ones after a second without requests, or at once if `HTTP_DRAIN_MS` is
   * 0; all at the latest after `HTTP_STOP_TIMEOUT_MS`.
   */
  close(): Promise<void>;
}

/** The address to listen on, and limits for connections. */
interface Listening {
  readonly HOST: string;
  /** The port; 0 for any free one. */
  readonly PORT: number;
  readonly HTTP_MAX_CONNECTIONS: number;
  readonly HTTP_MAX_CONNECTIONS_PER_ADDRESS: number;
  readonly HTTP_KEEP_ALIVE_MS: number;
  readonly HTTP_STOP_TIMEOUT_MS: number;
  /** Omitted by services without clients. */
  readonly HTTP_DRAIN_MS?: number;
  readonly NODE_ENV?: string;
}

/**
 * Starts an HTTP server.
 *
 * @param rootUrl the base URL of `/errors/{code}` in error payloads; omitted by services without error payloads
 * @throws if the port is in use or not permitted
 */
export async function listen(
  app: Koa,
  config: Listening,
  logger: Logger,
  rootUrl?: string,
): Promise<HttpListener> {
  const { HOST, PORT } = config;
  app.on('error', (error: unknown) => {
    if (!isDisconnect(error)) logger.error({ err: error }, 'a request failed');
  });
  const handle = app.callback();
  const open = new Set<ServerResponse>();
  const server = createServer(
    {
      keepAliveTimeout: config.HTTP_KEEP_ALIVE_MS,
      headersTimeout: headersMs,
      requestTimeout: requestMs,
      requireHostHeader: rootUrl === undefined, // the API itself rejects requests without Host
    },
    (request, response) => {
      if (!server.listening) response.shouldKeepAlive = false;
      open.add(response);
      response.once('close', () => open.delete(response));
      void handle(request, response);
    },
  );
  const limits = { total: config.HTTP_MAX_CONNECTIONS, perAddress: config.HTTP_MAX_CONNECTIONS_PER_ADDRESS };
  limitConnections(server, limits, rootUrl ?? '');
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(PORT, HOST, resolve);
  });
  const { port } = server.address() as AddressInfo; // never a string for a TCP server
  logger.info({ host: HOST, port }, 'listening');
  return { server, port, close: () => close(server, open, config) };
}

/** Returns whether the error means that the client disconnected. Event streams usually end this way. */
function isDisconnect(error: unknown): boolean {
  return error instanceof Error && 'code' in error && ['ECONNRESET', 'EPIPE'].includes(String(error.code));
}

/**
 * A connection is closed by the answer to its next request, which announces that. Closing idle connections at once would
 * fail requests that a load balancer is just sending on them: it cannot repeat those that change something.
 */
async function close(server: Server, open: ReadonlySet<ServerResponse>, config: Listening): Promise<void> {
  if (drainMs(config) > 0) await untilNoneConnects(server);
  const last = setTimeout(() => server.closeAllConnections(), config.HTTP_STOP_TIMEOUT_MS);
  const idleMs = Math.min(drainMs(config), reuseMs);
  const closed = new Promise<void>((resolve) => {
    NetServer.prototype.close.call(server, () => resolve()); // that of the HTTP server closes idle connections, too
  });
  for (const response of open) if (!response.headersSent) response.shouldKeepAlive = false;
  await Promise.race([closed, untilUnused(server, idleMs)]);
  const idle = setInterval(() => server.closeIdleConnections(), idleCheckMs);
  server.close(); // closes idle connections, and ends the server's own timers
  await closed;
  clearInterval(idle);
  clearTimeout(last);
}

/**
 * Resolves once no request has arrived for so long. Requests that have arrived, but were not read yet, count: if the
 * process was not running for a while, there can be many.
 */
async function untilUnused(server: Server, idleMs: number): Promise<void> {
  let sinceMs = performance.now();
  const note = (): void => void (sinceMs = performance.now());
  server.on('request', note);
  while (performance.now() - sinceMs < idleMs) {
    await sleep(idleCheckMs);
    for (let turn = 0; turn < 2; turn++) await nextTurn(); // so that what has arrived is read
  }
  server.off('request', note);
}

/**
 * Resolves right after a short turn of the event loop in which no connection was waiting to be accepted. Closing the
 * listener resets connections that wait, with the requests that clients have already sent on them.
 */
async function untilNoneConnects(server: Server): Promise<void> {
  let accepted = true;
  const note = (): void => void (accepted = true);
  server.on('connection', note).on('drop', note);
  const startedMs = performance.now();
  let turnMs = 0;
  for (let nowMs = startedMs; accepted || turnMs > shortTurnMs; nowMs += turnMs) {
    if (nowMs - startedMs > quietMs) break;
    accepted = false;
    await nextTurn();
    turnMs = performance.now() - nowMs;
  }
  server.off('connection', note).off('drop', note);
}

/** Returns `HTTP_DRAIN_MS`, or its default: 5,000 in production, otherwise 0. */
function drainMs({ HTTP_DRAIN_MS, NODE_ENV }: Pick<Listening, 'HTTP_DRAIN_MS' | 'NODE_ENV'>): number {
  return HTTP_DRAIN_MS ?? (NODE_ENV === 'production' ? productionDrainMs : 0);
}

/**
 * Reports on `/readyz` that the service is stopping, and goes on serving for `HTTP_DRAIN_MS`. Load balancers stop sending
 * requests to it in this time.
 */
export async function drain(
  health: Pick<Readiness, 'stopping'>,
  config: Pick<Listening, 'HTTP_DRAIN_MS' | 'NODE_ENV'>,
): Promise<void> {
  health.stopping();
  await sleep(drainMs(config));
}

interface ProxyConfig {
  readonly HTTP_TRUSTED_PROXIES: number;
}

/**
 * Creates the Koa application of a service. Takes client addresses from `X-Forwarded-For` if there are trusted proxies.
 * Otherwise logs a warning on the first request through a proxy: all clients then share the proxy's address and limits.
 */
export function createServiceApp({ HTTP_TRUSTED_PROXIES }: ProxyConfig, logger: Logger): Koa {
  const app = createApplication(Koa, HTTP_TRUSTED_PROXIES);
  if (HTTP_TRUSTED_PROXIES === 0) {
    let warned = false;
    app.use((ctx, next) => {
      if (!warned && ctx.get('x-forwarded-for') !== '') {
        warned = true;
        logger.warn(
          { address: ctx.ip },
          'requests come through a proxy, but HTTP_TRUSTED_PROXIES is 0: its clients share one address for limits and sign-in',
        );
      }
      return next();
    });
  }
  return app;
}

/** Returns whether a path is one of those that Prometheus reads. */
export function isMetricsPath(path: string): boolean {
  return path === '/metrics' || path === '/metrics/storage';
}

/**
 * Rejects requests for metrics with a foreign `Host` header. Otherwise a web page could read the metrics by pointing
 * its own host name at this service (DNS rebinding). IP addresses and `localhost` are always accepted, because an
 * attacker cannot redirect them.
 *
 * @param allowedHosts additional host names, comma-separated, without ports
 */
export function metricsGuard(allowedHosts = ''): Koa.Middleware {
  const names = new Set([
    'localhost',
    ...listOf(allowedHosts, 'HTTP_ALLOWED_HOSTS').map((name) => name.toLowerCase()),
  ]);
  return async (context, next) => {
    const { host = '' } = context.req.headers;
    const name = host.replace(/:\d*$/, '').toLowerCase();
    const isServed = names.has(name) || isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0;
    if (!isMetricsPath(context.path) || isServed) {
      await next();
      return;
    }
    context.status = 421;
    context.body = {
      reason: `The request is for the host "${shorten(host, 200)}"; add it to HTTP_ALLOWED_HOSTS if it is a name of this service`,
    };
  };
}
