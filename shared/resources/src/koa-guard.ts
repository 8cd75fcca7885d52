import type Koa from 'koa';
import { toApiRequest } from './koa-request.js';
import { type Admission, admit } from './request/admission.js';
import { requireScope } from './request/scope.js';

/**
 * Lets only callers with a scope on to the middleware after it, for routes that are no resources. It stands after the
 * resource API, which answers what it throws.
 */
export function requireCaller(admission: Admission, scope: string): Koa.Middleware {
  return async (ctx, next) => {
    const request = toApiRequest(ctx, async () => undefined);
    const principal = await admit(admission, request, ({ headers }) => ctx.set(headers));
    requireScope(principal, scope);
    await next();
  };
}
