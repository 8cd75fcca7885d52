import { randomUUID } from 'node:crypto';
import type Koa from 'koa';
import type { ApiRequest } from './request/request.js';

/** The request of a Koa context, without Koa. */
export function toApiRequest(ctx: Koa.Context, readBody: () => Promise<unknown>): ApiRequest {
  const given = ctx.get('x-request-id');
  return {
    method: ctx.method,
    path: ctx.path,
    query: ctx.querystring,
    headers: ctx.headers as ApiRequest['headers'],
    id: /^[\w.:-]{1,128}$/.test(given) ? given : randomUUID(),
    address: ctx.ip,
    readBody,
  };
}
