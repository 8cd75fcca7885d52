import type Koa from 'koa';
import { toApiRequest } from './request.js';
import { type Admission, admit, countByAddress } from '../pipeline/access/access-control.js';
import { requireReach } from '../pipeline/access/confinement.js';
import { requireMediaType } from '../pipeline/request/media-type.js';
import { requireScope } from '../pipeline/access/scope.js';

/**
 * Lets only callers with a scope on to the middleware after it, for routes that are no resources. It stands after the
 * resource API, which answers what it throws. The caller is `ctx.state.principal` from then on.
 * @param value of the field by which callers are confined, where the route has one: others than these are kept out
 */
export function requireCaller(admission: Admission, scope: string, value?: string): Koa.Middleware {
  return async (ctx, next) => {
    const request = toApiRequest(ctx, async () => undefined);
    const principal = await admit(admission, request, ({ headers }) => ctx.set(headers));
    requireScope(principal, scope);
    requireReach(principal, value);
    ctx.state['principal'] = principal;
    if (request.method !== 'GET' && request.method !== 'HEAD') requireMediaType(request);
    await next();
  };
}

/** Counts requests for their address, for routes that need no credentials. It stands after the resource API, as {@link requireCaller} does. */
export function countRequests(admission: Admission): Koa.Middleware {
  return async (ctx, next) => {
    const request = toApiRequest(ctx, async () => undefined);
    countByAddress(admission, request, ({ headers }) => ctx.set(headers));
    await next();
  };
}
