import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { limitConnections } from '@longshore/resources';
import type Koa from 'koa';
import type { Logger } from './logger.js';

/** How long a caller may take to send a request: its headers, and all of it. */
const headersMs = 20_000;
const requestMs = 120_000;

/** Idle connections are closed at once when a listener closes; busy ones get this long for their answer. */
const drainMs = 5_000;

/** A connection whose answer has gone out is kept for the next request: when a listener closes, no longer than this. */
const idleCheckMs = 50;

/** A listening HTTP server. */
export interface HttpListener {
  readonly server: Server;
  readonly port: number;
  /** Accepts no more connections, lets pending responses finish, then closes. */
  close(): Promise<void>;
}

/** The address to listen on, and connection limits. */
export interface Listening {
  readonly HOST: string;
  /** 0 for any free one. */
  readonly PORT: number;
  readonly HTTP_MAX_CONNECTIONS: number;
  readonly HTTP_MAX_CONNECTIONS_PER_ADDRESS: number;
}

/**
 * @param rootUrl where `/errors/{code}` is reachable, if it is
 * @throws if the port is taken or may not be used
 */
export async function listen(
  app: Koa,
  config: Listening,
  logger: Logger,
  rootUrl = '',
): Promise<HttpListener> {
  const { HOST, PORT } = config;
  app.on('error', (error: unknown) => {
    if (!isGoneAway(error)) logger.error({ err: error }, 'a request failed');
  });
  const handle = app.callback();
  // Longer than the usual 60 s of a load balancer, so that it is never us who close a connection it is about to use.
  const server = createServer(
    { keepAliveTimeout: 65_000, headersTimeout: headersMs, requestTimeout: requestMs },
    (request, response) => void handle(request, response),
  );
  const limits = { total: config.HTTP_MAX_CONNECTIONS, perAddress: config.HTTP_MAX_CONNECTIONS_PER_ADDRESS };
  limitConnections(server, limits, rootUrl);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(PORT, HOST, resolve);
  });
  const { port } = server.address() as AddressInfo; // a TCP server's address is never text
  logger.info({ host: HOST, port }, 'listening');
  return { server, port, close: () => close(server) };
}

/** The caller has closed the connection; who listens to a stream always ends it so. */
function isGoneAway(error: unknown): boolean {
  return error instanceof Error && 'code' in error && ['ECONNRESET', 'EPIPE'].includes(String(error.code));
}

async function close(server: Server): Promise<void> {
  const last = setTimeout(() => server.closeAllConnections(), drainMs);
  const idle = setInterval(() => server.closeIdleConnections(), idleCheckMs);
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
  clearInterval(idle);
  clearTimeout(last);
}
