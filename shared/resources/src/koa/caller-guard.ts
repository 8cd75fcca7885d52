import type Koa from 'koa';
import { type AccessControl, countByAddress, identifyCaller } from '../pipeline/access/access-control.js';
import { requireRowScope } from '../pipeline/access/row-scope.js';
import { requireScope } from '../pipeline/access/scope.js';
import { requireMediaType } from '../pipeline/request/media-type.js';
import { requireNoParameters } from '../query/query-parser.js';
import { toApiRequest } from './request.js';

/**
 * Requires a scope on routes that are not resources. Also applies the rate limit, and rejects query parameters and
 * bodies that are not JSON. Use it after the resource API, which turns the errors thrown here into responses. Sets
 * `ctx.state.principal`.
 * @param value a value, such as a queue, that the row scope of the caller must include; if omitted, callers with a row
 *   scope are rejected
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
 * Applies the rate limit to routes that need no credentials. Counts requests by network address. Use it after the
 * resource API, which turns the errors thrown here into responses.
 */
export function countRequests(accessControl: AccessControl): Koa.Middleware {
  return async (ctx, next) => {
    const request = toApiRequest(ctx, async () => undefined);
    countByAddress(accessControl, request, ({ headers }) => ctx.set(headers));
    await next();
  };
}
