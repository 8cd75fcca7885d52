import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { networkOf } from '@longshore/edge';
import { apiError } from '../errors/api-error.js';
import { endWithError } from './socket-response.js';

/** Maximum numbers of open connections. */
export interface ConnectionLimits {
  readonly total: number;
  /** The maximum per network address, for IPv6 per /64 network. Behind a proxy, all connections come from the proxy's address. */
  readonly perAddress: number;
}

/**
 * Responds to connections beyond the limits with 503, and closes them without reading a request.
 * @param rootUrl the base URL of `/errors/{code}`
 */
export function limitConnections(server: Server, limits: ConnectionLimits, rootUrl: string): void {
  const open = new Map<string, number>();
  let total = 0;
  // Beyond this number, Node drops connections without a response.
  server.maxConnections = limits.total + 1_000;
  server.on('connection', (socket: Socket) => {
    const address = networkOf(socket.remoteAddress ?? '');
    const fromAddress = open.get(address) ?? 0;
    if (total >= limits.total || fromAddress >= limits.perAddress) {
      reject(socket, rootUrl);
      return;
    }
    total += 1;
    open.set(address, fromAddress + 1);
    socket.once('close', () => {
      total -= 1;
      const left = (open.get(address) ?? 1) - 1;
      if (left > 0) open.set(address, left);
      else open.delete(address);
    });
  });
}

function reject(socket: Socket, rootUrl: string): void {
  const error = apiError(50303, 'The service has reached its limit of open connections', {
    'Retry-After': '5',
  });
  socket.on('error', () => undefined); // the client may close the connection first
  endWithError(socket, error, rootUrl);
  socket.destroySoon();
}
