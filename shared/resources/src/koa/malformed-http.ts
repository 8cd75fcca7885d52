import { shorten } from '@longshore/edge';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { type ApiError, apiError } from '../errors/api-error.js';
import { errorPayload } from '../pipeline/error-response.js';
import { endWithError } from './socket-response.js';

/** An error of Node's HTTP parser. */
interface ParseError extends NodeJS.ErrnoException {
  /** The bytes that were being parsed. The first `bytesParsed` of them were parsed before the error. */
  readonly rawPacket?: Buffer;
  readonly bytesParsed?: number;
}

/**
 * Sends the error payload for requests that Node's HTTP server rejects:
 *
 * - malformed HTTP
 * - a URL, headers or chunk extensions that are too large
 * - a request that arrives too slowly
 * - an `Expect` header other than `100-continue`
 *
 * @param rootUrl the base URL of `/errors/{code}`
 */
export function answerMalformedHttp(server: Server, rootUrl: string): void {
  server.on('clientError', (error: ParseError, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable || socket.destroyed) {
      socket.destroy();
      return;
    }
    endWithError(socket, problemOf(error), rootUrl);
  });
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    const expected = shorten(String(request.headers.expect), 100);
    const error = apiError(41701, `Only Expect: 100-continue is supported, not "${expected}"`);
    const body = JSON.stringify(errorPayload(error, rootUrl));
    response.writeHead(error.status, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
      connection: 'close',
    });
    response.end(request.method === 'HEAD' ? undefined : body);
  });
}

function problemOf(error: ParseError): ApiError {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return isInRequestLine(error)
        ? apiError(41401, 'The URL is too long')
        : apiError(43101, 'The headers are too large');
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return apiError(41301, 'The chunk extensions of the body are too large');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return apiError(40801, 'The request did not arrive in time');
    default:
      return apiError(40003, `The request is not well-formed HTTP (${error.code ?? 'unknown'})`);
  }
}

function isInRequestLine({ rawPacket, bytesParsed }: ParseError): boolean {
  const parsed = rawPacket?.subarray(0, bytesParsed).toString('latin1') ?? '';
  return /^[A-Z]+ [^\n]*$/.test(parsed);
}
