import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline as pipeStream, Readable } from 'node:stream';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { mapInSlices, requestIdOf, shorten } from '@longshore/edge';
import type Koa from 'koa';
import { apiError, ApiError } from '../errors/api-error.js';
import type { CodeOf, ErrorCode } from '../errors/error-catalogue.js';
import {
  type AccessControl,
  countByAddress,
  identifyCaller,
  requireScope,
} from '../pipeline/access/access-control.js';
import { requireRowScope } from '../pipeline/access/row-scope.js';
import {
  requireMediaType,
  smallestEncoding,
  type ApiRequest,
  type ApiResponse,
} from '../pipeline/request.js';
import type { Pipeline } from '../pipeline/pipeline.js';
import { requireNoParameters } from '../query/query-parser.js';
import { bodyReader } from './body.js';

export type Middleware = Koa.Middleware;

/** Throws an {@link ApiError} to reject a request before it is processed. */
export type RequestGuard = (ctx: Koa.Context) => void;

/**
 * Returns Koa middleware that sends the responses of the pipeline. Requests for paths that the pipeline does not
 * serve go to the next middleware.
 *
 * @param guard by default, accepts all requests
 */
export function koaAdapter(
  pipeline: Pipeline,
  bodyLimitBytes: number,
  guard: RequestGuard = () => undefined,
): Middleware {
  const readBody = bodyReader(bodyLimitBytes);
  return async (ctx, next) => {
    const request = toApiRequest(ctx, () => readBody(ctx));
    setHeaders(ctx, pipeline.commonHeaders(request));
    try {
      requireValidHead(ctx.req);
      guard(ctx);
    } catch (error) {
      return send(ctx, pipeline.answerError(request, error));
    }
    const response = (await pipeline.respond(request)) ?? (await answerOfOtherMiddleware(request));
    if (response === undefined) return;
    try {
      await send(ctx, response);
    } catch (error) {
      for (const name of Object.keys(response.headers)) ctx.remove(name);
      await send(ctx, pipeline.answerError(request, error)); // for example if the response is too long for a string
    }

    /**
     * Runs the middleware after this one. Returns an error payload if that middleware throws or leaves an error status
     * without a body; otherwise undefined.
     */
    async function answerOfOtherMiddleware(apiRequest: ApiRequest): Promise<ApiResponse | undefined> {
      try {
        await next();
      } catch (error) {
        return pipeline.answerError(apiRequest, fromHttpError(error));
      }
      const isAnswered = ctx.status < 400 || (ctx.body !== undefined && ctx.body !== null && ctx.body !== '');
      if (isAnswered) return undefined;
      const reason = `${apiRequest.method} ${shorten(apiRequest.path, 200)}: ${ctx.message}`;
      return pipeline.answerError(apiRequest, fromStatus(ctx.status, reason));
    }
  };
}

async function send(ctx: Koa.Context, { status, headers, body, route }: ApiResponse): Promise<void> {
  setHeaders(ctx, headers);
  // Where Koa's router notes the pattern of a route, too, so that whatever counts requests finds it in one place.
  if (route !== undefined) Object.assign(ctx, { _matchedRoute: route });
  if (body === undefined) return sendNothing(ctx, status);
  ctx.status = status;
  if (body instanceof Readable) return stream(ctx, body);
  if (Buffer.isBuffer(body)) {
    ctx.body = body;
    return;
  }
  const text = await textOf(body);
  const encoding = encodingOf(text, ctx.get('accept-encoding'));
  if (encoding !== undefined && headers['etag'] !== undefined)
    ctx.set('etag', tagOfEncoded(headers['etag'], encoding));
  if (status === 304) return sendNothing(ctx, status);
  if (headers['content-type'] === undefined)
    ctx.res.setHeader('content-type', 'application/json; charset=utf-8');
  if (encoding !== undefined) ctx.set('content-encoding', encoding);
  ctx.body = encoding === undefined ? text : await compress(text, encoding);
}

function sendNothing(ctx: Koa.Context, status: number): void {
  ctx.body = null;
  ctx.status = status;
}

/** Arrays with more items are serialized in slices, because serializing ten thousand jobs takes 40 ms. */
const longArray = 500;

/** Serializes a body. Serializes a long array in time slices, so that other requests are served in between. */
function textOf(body: unknown): string | Promise<string> {
  if (typeof body === 'string') return body;
  return Array.isArray(body) && body.length > longArray ? textInSlices(body) : JSON.stringify(body);
}

async function textInSlices(items: readonly unknown[]): Promise<string> {
  const texts = await mapInSlices(items, (item) => JSON.stringify(item));
  return `[${texts.join(',')}]`;
}

/** Sets headers directly on Node's response, because they need none of Koa's conversions. */
function setHeaders({ res }: Koa.Context, headers: ApiResponse['headers']): void {
  for (const name in headers) res.setHeader(name, headers[name] ?? '');
}

const disconnectCodes = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE']);

/** Sends a stream. Ignores disconnects, because they are the usual end of a stream; Koa would report them as errors. */
function stream(ctx: Koa.Context, body: Readable): void {
  ctx.respond = false;
  ctx.res.flushHeaders();
  pipeStream(body, ctx.res, (error) => {
    if (error !== undefined && error !== null && !disconnectCodes.has(error.code ?? ''))
      ctx.app.emit('error', error, ctx);
  });
}

/**
 * Maximum length of a URL, in characters. A page repeats the query in every link of its `Link` header, and clients
 * limit the size of headers.
 */
const maxUrlLength = 12_000;

/**
 * Rejects URLs that are too long. Also rejects URLs and `Host` headers that Node accepts although HTTP forbids them
 * (RFC 9110, section 4.2.1; RFC 9112, section 3.2).
 * @throws {ApiError} 41401 if the URL is too long, otherwise 40003
 */
function requireValidHead({ url = '', httpVersion, rawHeaders }: IncomingMessage): void {
  if (url.length > maxUrlLength)
    throw apiError(41401, `The URL has ${url.length} characters; at most ${maxUrlLength} are allowed`);
  if (!/^[\x21-\x7e]*$/.test(url))
    throw apiError(40003, 'The URL must be ASCII, with any other text as UTF-8 in percent-encoding');
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host').length;
  if (hosts > 1) throw apiError(40003, 'The request must have one Host header, not several');
  if (hosts === 0 && httpVersion === '1.1') throw apiError(40003, 'The request has no Host header');
}

const brotli = promisify(brotliCompress);
const zip = promisify(gzip);

/** Minimum size of a body to compress, in bytes. Compressing a smaller body would save less than one packet. */
const minBytes = 1024;

type Encoding = 'br' | 'gzip';

/** Returns the encoding in which to send a body; undefined if it is small, or the caller accepts no compression. */
function encodingOf(text: string, acceptEncoding: string): Encoding | undefined {
  if (acceptEncoding === '' || Buffer.byteLength(text) < minBytes) return undefined;
  const encoding = smallestEncoding(acceptEncoding);
  return encoding === 'identity' ? undefined : encoding;
}

function compress(text: string, encoding: Encoding): Promise<Buffer> {
  // Quality 4 is as fast as gzip but compresses better. The default of 11 is meant for static files.
  return encoding === 'br' ? brotli(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }) : zip(text);
}

/** Returns the strong ETag of a compressed body. It must differ from the ETag of the uncompressed body. */
function tagOfEncoded(etag: string, encoding: string): string {
  return etag.replace(/"$/, `-${encoding}"`);
}

/** Converts a Koa context to a request that is independent of Koa. */
function toApiRequest(ctx: Koa.Context, readBody: () => Promise<unknown>): ApiRequest {
  let connection: AbortController | undefined;
  return {
    method: ctx.method,
    path: ctx.path,
    query: ctx.querystring,
    headers: ctx.headers as ApiRequest['headers'],
    id: requestIdOf(ctx),
    address: ctx.ip,
    /** Created on first use, because most calls do not need it. */
    get signal() {
      connection ??= abortedOnClose(ctx.res);
      return connection.signal;
    },
    readBody,
  };
}

function abortedOnClose(response: ServerResponse): AbortController {
  const controller = new AbortController();
  if (response.destroyed) controller.abort();
  else response.once('close', () => controller.abort());
  return controller;
}

type Status = 400 | 401 | 403 | 404 | 405 | 406 | 413 | 415 | 429 | 503;

const codeOf: { readonly [Of in Status]: CodeOf<Of> } = {
  400: 40003,
  401: 40101,
  403: 40301,
  404: 40401,
  405: 40501,
  406: 40601,
  413: 41301,
  415: 41501,
  429: 42901,
  503: 50303,
};
const codes: ReadonlyMap<number, ErrorCode> = new Map(
  Object.entries(codeOf).map(([status, code]) => [Number(status), code]),
);

/**
 * Returns the API error for an HTTP status. For a status without a code of its own, the code is 40003 if the status is
 * below 500, otherwise 50001.
 */
function fromStatus(status: number, message: string): ApiError {
  return apiError(codes.get(status) ?? (status < 500 ? 40003 : 50001), message);
}

/**
 * Converts an HTTP error from Koa, such as one thrown by `ctx.throw(404)`, to an API error. Returns all other errors
 * unchanged, including errors with a status that has no entry in `codeOf`.
 */
function fromHttpError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof ApiError || !('status' in error)) return error;
  const code = typeof error.status === 'number' ? codes.get(error.status) : undefined;
  return code === undefined ? error : apiError(code, error.message);
}

/**
 * Returns middleware for routes that are not resources. Requires a scope and applies the rate limit. Rejects query
 * parameters and non-JSON bodies. Sets `ctx.state.principal`. Use it after the resource API, because the resource API
 * converts the errors thrown here to responses.
 * @param value a value that the caller's row scope must include, such as a queue. If omitted, callers with a row scope
 *   are rejected
 */
export function requireCaller(accessControl: AccessControl, scope: string, value?: string): Koa.Middleware {
  return async (ctx, next) => {
    const request = toApiRequest(ctx, async () => undefined);
    const principal = await identifyCaller(accessControl, request, ({ headers }) => ctx.set(headers));
    requireScope(principal, scope);
    requireRowScope(principal, value);
    ctx.state['principal'] = principal;
    if (request.method !== 'GET' && request.method !== 'HEAD') requireMediaType(request);
    requireNoParameters(request.query);
    await next();
  };
}

/**
 * Returns middleware that applies the rate limit to routes that need no credentials. Counts requests by network
 * address. Use it after the resource API, because the resource API converts the errors thrown here to responses.
 */
export function countRequests(accessControl: AccessControl): Koa.Middleware {
  return async (ctx, next) => {
    const request = toApiRequest(ctx, async () => undefined);
    countByAddress(accessControl, request, ({ headers }) => ctx.set(headers));
    await next();
  };
}
