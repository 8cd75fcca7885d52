import { createServer, type Server } from 'node:http';
import { type AddressInfo, isIP } from 'node:net';
import { createApplication, shorten } from '@longshore/edge';
// Not from the package's index, which would add a fifth to the time in which a worker is loaded.
import { limitConnections } from '@longshore/resources/connection-limit';
import Koa from 'koa';
import type { Logger } from 'pino';
import { listOf } from './config.js';

/** Time limit for receiving the headers of a request, in milliseconds. */
const headersMs = 20_000;
/** Time limit for receiving a whole request, in milliseconds. */
const requestMs = 120_000;

/** How often a closing listener closes idle connections, in milliseconds. */
const idleCheckMs = 50;

export interface HttpListener {
  readonly server: Server;
  readonly port: number;
  /**
   * Stops accepting connections. Resolves when all connections are closed. Requests in progress have five seconds to
   * finish.
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
  const server = createServer(
    {
      keepAliveTimeout: config.HTTP_KEEP_ALIVE_MS,
      headersTimeout: headersMs,
      requestTimeout: requestMs,
      requireHostHeader: rootUrl === undefined, // the API itself rejects requests without Host
    },
    (request, response) => void handle(request, response),
  );
  const limits = { total: config.HTTP_MAX_CONNECTIONS, perAddress: config.HTTP_MAX_CONNECTIONS_PER_ADDRESS };
  limitConnections(server, limits, rootUrl ?? '');
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(PORT, HOST, resolve);
  });
  const { port } = server.address() as AddressInfo; // never a string for a TCP server
  logger.info({ host: HOST, port }, 'listening');
  return { server, port, close: () => close(server, config.HTTP_STOP_TIMEOUT_MS) };
}

/** Returns whether the error means that the client disconnected. Event streams usually end this way. */
function isDisconnect(error: unknown): boolean {
  return error instanceof Error && 'code' in error && ['ECONNRESET', 'EPIPE'].includes(String(error.code));
}

async function close(server: Server, stopTimeoutMs: number): Promise<void> {
  const last = setTimeout(() => server.closeAllConnections(), stopTimeoutMs);
  const idle = setInterval(() => server.closeIdleConnections(), idleCheckMs);
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
  clearInterval(idle);
  clearTimeout(last);
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
