import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { limitConnections } from '@longshore/resources';
import type Koa from 'koa';
import type { Logger } from './logger.js';

/** The time limits for receiving a request: its headers, and all of it. */
const headersMs = 20_000;
const requestMs = 120_000;

/** When a listener closes, connections with a request in progress get this long for their answer. */
const drainMs = 5_000;

/** How often a closing listener closes connections that have become idle. */
const idleCheckMs = 50;

/** A listening HTTP server. */
export interface HttpListener {
  readonly server: Server;
  readonly port: number;
  /** Stops accepting connections, waits for answers in progress, then closes. */
  close(): Promise<void>;
}

/** Where to listen, and for how many connections. */
export interface Listening {
  readonly HOST: string;
  /** 0: any free port. */
  readonly PORT: number;
  readonly HTTP_MAX_CONNECTIONS: number;
  readonly HTTP_MAX_CONNECTIONS_PER_ADDRESS: number;
}

/**
 * Starts an HTTP server.
 *
 * @param rootUrl where `/errors/{code}` is reachable; undefined for a service that does not answer with error payloads
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
  // Longer than the usual 60 s of load balancers, so that no connection is closed just when one uses it again.
  const server = createServer(
    {
      keepAliveTimeout: 65_000,
      headersTimeout: headersMs,
      requestTimeout: requestMs,
      requireHostHeader: rootUrl === undefined, // the API answers such requests itself, with an error payload
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
  return { server, port, close: () => close(server) };
}

/** Whether the client closed the connection, the usual end of an event stream. */
function isDisconnect(error: unknown): boolean {
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
