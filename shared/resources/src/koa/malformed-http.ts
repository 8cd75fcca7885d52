import type { Server } from 'node:http';
import { apiError } from '../errors/api-error.js';
import { endWithError } from './socket-response.js';

/**
 * Answers requests that are not well-formed HTTP, which never reach middleware, with the error payload.
 * @param rootUrl where `/errors/{code}` is reachable
 */
export function answerMalformedHttp(server: Server, rootUrl: string): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable || socket.destroyed) {
      socket.destroy();
      return;
    }
    const problem = apiError(40003, `The request is not well-formed HTTP (${error.code ?? 'unknown'})`);
    endWithError(socket, '400 Bad Request', problem, rootUrl);
  });
}
