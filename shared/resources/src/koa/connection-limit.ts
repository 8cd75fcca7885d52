import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { apiError } from '../errors/api-error.js';
import { errorPayload } from '../pipeline/error-response.js';

/** How many connections a server holds. */
export interface ConnectionLimits {
  readonly total: number;
  /** From one network address. Behind a proxy that is the proxy's. */
  readonly perAddress: number;
}

/**
 * Answers connections beyond the limits with 503 and closes them, before they have sent anything.
 * @param rootUrl where `/errors/{code}` is reachable
 */
export function limitConnections(server: Server, limits: ConnectionLimits, rootUrl: string): void {
  const open = new Map<string, number>();
  let total = 0;
  // Far beyond the limit not even an answer is given.
  server.maxConnections = limits.total + 1_000;
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? '';
    const fromAddress = open.get(address) ?? 0;
    if (total >= limits.total || fromAddress >= limits.perAddress) {
      refuse(socket, rootUrl);
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

function refuse(socket: Socket, rootUrl: string): void {
  const problem = apiError(50303, 'The service holds as many connections as it may hold');
  const body = JSON.stringify(errorPayload(problem, rootUrl.replace(/\/+$/, '')));
  socket.on('error', () => undefined); // it was closed from the other side
  socket.write(
    [
      'HTTP/1.1 503 Service Unavailable',
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Retry-After: 5',
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  );
  socket.destroySoon();
}
