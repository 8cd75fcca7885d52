import type Koa from 'koa';
import { type AccessControl, countByAddress, identifyCaller } from '../pipeline/access/access-control.js';
import { requireRowScope } from '../pipeline/access/row-scope.js';
import { requireScope } from '../pipeline/access/scope.js';
import { requireMediaType } from '../pipeline/request/media-type.js';
import { toApiRequest } from './request.js';

/**
 * Lets only callers with a scope on to the middleware after it, for routes that are no resources. It stands after the
 * resource API, which answers what it throws. The caller is `ctx.state.principal` from then on.
 * @param value of the field by which callers are confined, where the route has one: others than these are kept out
 */
export function requireCaller(accessControl: AccessControl, scope: string, value?: string): Koa.Middleware {
  return async (ctx, next) => {
    const request = toApiRequest(ctx, async () => undefined);
    const principal = await identifyCaller(accessControl, request, ({ headers }) => ctx.set(headers));
    requireScope(principal, scope);
    requireRowScope(principal, value);
    ctx.state['principal'] = principal;
    if (request.method !== 'GET' && request.method !== 'HEAD') requireMediaType(request);
    await next();
  };
}

/** Counts requests for their address, for routes that need no credentials. It stands after the resource API, as {@link requireCaller} does. */
export function countRequests(accessControl: AccessControl): Koa.Middleware {
  return async (ctx, next) => {
    const request = toApiRequest(ctx, async () => undefined);
    countByAddress(accessControl, request, ({ headers }) => ctx.set(headers));
    await next();
  };
}
