import { mapInSlices, shorten } from '@longshore/edge';
import { pipeline, Readable } from 'node:stream';
import type Koa from 'koa';
import { fromHttpError, fromStatus } from '../errors/http-error.js';
import type { ApiRequest, ApiResponse } from '../pipeline/request/request.js';
import type { Responder } from '../pipeline/responder.js';
import { bodyReader } from './body.js';
import { compress, encodingOf, tagOfEncoded } from './compression.js';
import { toApiRequest } from './request.js';
import { requireValidHead } from './request-head.js';

export type Middleware = Koa.Middleware;

/** Throws an {@link ApiError} to reject a request before it is processed. */
export type RequestGuard = (ctx: Koa.Context) => void;

/**
 * Returns Koa middleware that sends the responses of the responder. Requests for paths that the responder does not
 * serve go to the next middleware.
 *
 * @param guard by default, accepts all requests
 */
export function koaAdapter(
  responder: Responder,
  bodyLimitBytes: number,
  guard: RequestGuard = () => undefined,
): Middleware {
  const readBody = bodyReader(bodyLimitBytes);
  return async (ctx, next) => {
    const request = toApiRequest(ctx, () => readBody(ctx));
    setHeaders(ctx, responder.commonHeaders(request));
    try {
      requireValidHead(ctx.req);
      guard(ctx);
    } catch (error) {
      return send(ctx, responder.answerError(request, error));
    }
    const response = (await responder.respond(request)) ?? (await answerOfOtherMiddleware(request));
    if (response === undefined) return;
    try {
      await send(ctx, response);
    } catch (error) {
      for (const name of Object.keys(response.headers)) ctx.remove(name);
      await send(ctx, responder.answerError(request, error)); // for example if the response is too long for a string
    }

    /**
     * Runs the middleware after this one. Returns an error payload if that middleware throws or leaves an error status
     * without a body; otherwise undefined.
     */
    async function answerOfOtherMiddleware(apiRequest: ApiRequest): Promise<ApiResponse | undefined> {
      try {
        await next();
      } catch (error) {
        return responder.answerError(apiRequest, fromHttpError(error));
      }
      const isAnswered = ctx.status < 400 || (ctx.body !== undefined && ctx.body !== null && ctx.body !== '');
      if (isAnswered) return undefined;
      const reason = `${apiRequest.method} ${shorten(apiRequest.path, 200)}: ${ctx.message}`;
      return responder.answerError(apiRequest, fromStatus(ctx.status, reason));
    }
  };
}

async function send(ctx: Koa.Context, { status, headers, body }: ApiResponse): Promise<void> {
  setHeaders(ctx, headers);
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
  pipeline(body, ctx.res, (error) => {
    if (error !== undefined && error !== null && !disconnectCodes.has(error.code ?? ''))
      ctx.app.emit('error', error, ctx);
  });
}
