import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type Koa from 'koa';
import type { ApiRequest } from '../pipeline/request/request.js';

/** Converts a Koa context to a request that is independent of Koa. */
export function toApiRequest(ctx: Koa.Context, readBody: () => Promise<unknown>): ApiRequest {
  const given = ctx.get('x-request-id');
  let connection: AbortController | undefined;
  return {
    method: ctx.method,
    path: ctx.path,
    query: ctx.querystring,
    headers: ctx.headers as ApiRequest['headers'],
    id: /^[\w.:-]{1,128}$/.test(given) ? given : randomUUID(),
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
