import type Koa from 'koa';
import { type AccessControl, countByAddress, identifyCaller } from '../pipeline/access/access-control.js';
import { requireRowScope } from '../pipeline/access/row-scope.js';
import { requireScope } from '../pipeline/access/scope.js';
import { requireMediaType } from '../pipeline/request/media-type.js';
import { requireNoParameters } from '../query/query-parser.js';
import { toApiRequest } from './request.js';

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
