import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { networkOf, shorten } from '@longshore/edge';
import { apiError, type ApiError } from '../errors/api-error.js';
import { errorPayload } from '../pipeline/error-response.js';

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

/**
 * Writes an HTTP response with the error payload to a socket, and ends the socket. For use before a request has been
 * parsed.
 * @param rootUrl the base URL of `/errors/{code}`
 */
function endWithError(socket: Duplex, error: ApiError, rootUrl: string): void {
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
