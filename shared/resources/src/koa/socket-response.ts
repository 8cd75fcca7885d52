import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ApiError } from '../errors/api-error.js';
import { errorPayload } from '../pipeline/error-response.js';

/**
 * Writes an HTTP response with the error payload to a socket, and ends the socket. For use before a request has been
 * parsed.
 * @param rootUrl the base URL of `/errors/{code}`
 */
export function endWithError(socket: Duplex, error: ApiError, rootUrl: string): void {
  const body = JSON.stringify(errorPayload(error, rootUrl.replace(/\/+$/, '')));
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
    ...error.headers,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.end([`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}`, ...lines, '', body].join('\r\n'));
}
