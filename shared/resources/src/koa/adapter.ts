import { pipeline, Readable } from 'node:stream';
import type Koa from 'koa';
import bodyParser from 'koa-bodyparser';
import { apiError } from '../errors/api-error.js';
import { fromHttpError, fromStatus } from '../errors/http-error.js';
import type { ApiRequest, ApiResponse } from '../pipeline/request/request.js';
import type { Responder } from '../pipeline/responder.js';
import { compress, tagOfEncoded } from './compression.js';
import { discardRest } from './discarded-body.js';
import { toApiRequest } from './request.js';

export type Middleware = Koa.Middleware;

/** Rejects a request before anything else sees it, by throwing an {@link ApiError}. */
export type RequestGuard = (ctx: Koa.Context) => void;

/** Returns the responder as Koa middleware. */
export function koaAdapter(
  responder: Responder,
  bodyLimitBytes: number,
  guard: RequestGuard = () => undefined,
): Middleware {
  const readBody = bodyReader(bodyLimitBytes);
  return async (ctx, next) => {
    const request = toApiRequest(ctx, () => readBody(ctx));
    ctx.set(responder.commonHeaders(request));
    try {
      guard(ctx);
    } catch (error) {
      return send(ctx, responder.answerError(request, error));
    }
    const response = (await responder.respond(request)) ?? (await answerOfOthers(request));
    if (response === undefined) return;
    try {
      await send(ctx, response);
    } catch (error) {
      for (const name of Object.keys(response.headers)) ctx.remove(name);
      await send(ctx, responder.answerError(request, error)); // the answer cannot be sent: too long for a string, for example
    }

    /** Runs later middleware and returns the error payload if it throws or gives no answer. */
    async function answerOfOthers(asked: ApiRequest): Promise<ApiResponse | undefined> {
      try {
        await next();
      } catch (error) {
        return responder.answerError(asked, fromHttpError(error));
      }
      const isAnswered = ctx.status < 400 || (ctx.body !== undefined && ctx.body !== null && ctx.body !== '');
      if (isAnswered) return undefined;
      const reason = `${asked.method} ${asked.path.slice(0, 200)}: ${ctx.message}`;
      return responder.answerError(asked, fromStatus(ctx.status, reason));
    }
  };
}

async function send(ctx: Koa.Context, { status, headers, body }: ApiResponse): Promise<void> {
  ctx.set(headers);
  if (body === undefined) {
    ctx.body = null;
    ctx.status = status;
    return;
  }
  ctx.status = status;
  if (body instanceof Readable) return stream(ctx, body);
  if (Buffer.isBuffer(body)) {
    ctx.body = body;
    return;
  }
  if (headers['content-type'] === undefined) ctx.type = 'application/json; charset=utf-8';
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const encoded = await compress(text, ctx.get('accept-encoding'));
  if (encoded.encoding !== undefined) {
    ctx.set('content-encoding', encoded.encoding);
    if (headers['etag'] !== undefined) ctx.set('etag', tagOfEncoded(headers['etag'], encoded.encoding));
  }
  ctx.body = encoded.body;
}

const disconnectCodes = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE']);

/** Sends a stream. Koa would report a disconnect as an error; for a stream it is the usual end. */
function stream(ctx: Koa.Context, body: Readable): void {
  ctx.respond = false;
  ctx.res.flushHeaders();
  pipeline(body, ctx.res, (error) => {
    if (error !== undefined && error !== null && !disconnectCodes.has(error.code ?? ''))
      ctx.app.emit('error', error, ctx);
  });
}

function bodyReader(limitBytes: number): (ctx: Koa.Context) => Promise<unknown> {
  const parse = bodyParser({
    enableTypes: ['json'],
    extendTypes: { json: ['application/merge-patch+json'] },
    strict: false,
    jsonLimit: String(limitBytes),
    onerror: (error: Error & { status?: number }) => {
      if (error.status === 413)
        throw apiError(41301, `The body exceeds ${limitBytes} bytes`, { connection: 'close' });
      if (error.status === 415) throw apiError(41501, error.message);
      throw apiError(40001, `The body is not valid JSON: ${error.message}`);
    },
  });
  return async (ctx) => {
    try {
      await parse(ctx, async () => {});
    } catch (error) {
      if (!(await discardRest(ctx.req))) ctx.set('connection', 'close');
      throw error;
    }
    // Without a body the parser returns an empty object and leaves the raw text undefined or empty.
    return ctx.request.rawBody ? ctx.request.body : undefined;
  };
}
