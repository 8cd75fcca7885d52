import type { Server } from 'node:http';
import { apiError } from '../errors/api-error.js';
import { errorPayload } from '../pipeline/error-response.js';

/**
 * Gives the error payload to requests that are not HTTP at all, which no middleware ever sees.
 * @param rootUrl where `/errors/{code}` is reachable
 */
export function answerMalformedHttp(server: Server, rootUrl: string): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable || socket.destroyed) {
      socket.destroy();
      return;
    }
    const problem = apiError(40003, `The request is not well-formed HTTP (${error.code ?? 'unknown'})`);
    const body = JSON.stringify(errorPayload(problem, rootUrl.replace(/\/+$/, '')));
    socket.end(
      [
        'HTTP/1.1 400 Bad Request',
        'Content-Type: application/json; charset=utf-8',
        `Content-Length: ${Buffer.byteLength(body)}`,
        'Connection: close',
        '',
        body,
      ].join('\r\n'),
    );
  });
}
