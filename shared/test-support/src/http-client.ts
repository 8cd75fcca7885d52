import { request as openRequest, type IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import type { ReceivedAnswer, SentRequest } from './openapi/exchange.js';

export interface HttpRequest {
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Strings and bytes are sent unchanged, anything else as JSON. JSON gets the content type `application/json`, unless
   * `headers` contains another.
   */
  readonly body?: unknown;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /**
   * Parses the body as JSON.
   *
   * @throws {SyntaxError} if the body is not valid JSON
   */
  json(): unknown;
}

export interface HttpClient {
  /** Sends a request. Leaves the path unchanged, so that tests can send invalid paths. Does not follow redirects. */
  request(method: string, path: string, request?: HttpRequest): Promise<HttpResponse>;
  get(path: string, request?: HttpRequest): Promise<HttpResponse>;
  post(path: string, body?: unknown, request?: HttpRequest): Promise<HttpResponse>;
  /** Sends raw bytes, for example an invalid request, and returns the raw response. */
  raw(bytes: string): Promise<string>;
}

/**
 * Creates an HTTP client for tests. Each request uses its own connection, so no connection outlives its test.
 *
 * @param check checks each response; if it rejects, the request rejects with the same error
 */
export function httpClient(
  baseUrl: string,
  check: (request: SentRequest, answer: ReceivedAnswer) => Promise<void> = async () => undefined,
): HttpClient {
  const { hostname, port } = new URL(baseUrl);
  const request = (
    method: string,
    path: string,
    { headers = {}, body }: HttpRequest = {},
  ): Promise<HttpResponse> => {
    const { bytes, type } = encode(body);
    const sent = openRequest({
      hostname,
      port,
      method,
      path,
      agent: false,
      headers: {
        ...(type === undefined ? {} : { 'content-type': type }),
        ...(bytes === undefined ? {} : { 'content-length': String(bytes.length) }),
        ...headers,
      },
    });
    return new Promise((resolve, reject) => {
      sent.once('error', reject);
      sent.once('response', (response) => {
        text(response)
          .then(async (content) => {
            const answer = { status: response.statusCode ?? 0, headers: response.headers, text: content };
            await check({ method, path, headers, body: bytes?.toString() }, answer);
            resolve({ ...answer, json: () => JSON.parse(content) as unknown });
          })
          .catch(reject);
      });
      sent.end(bytes);
    });
  };
  return {
    request,
    get: (path, options) => request('GET', path, options),
    post: (path, body, options) => request('POST', path, { ...options, body }),
    raw: async (bytes) => {
      const socket = connect(Number(port), hostname);
      socket.end(bytes);
      return text(socket);
    },
  };
}

function encode(body: unknown): { bytes?: Buffer; type?: string } {
  if (body === undefined) return {};
  if (typeof body === 'string') return { bytes: Buffer.from(body) };
  if (body instanceof Uint8Array) return { bytes: Buffer.from(body) };
  return { bytes: Buffer.from(JSON.stringify(body)), type: 'application/json' };
}
