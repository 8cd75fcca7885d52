import { AsyncLocalStorage } from 'node:async_hooks';
import type { EnqueueMiddleware } from '@longshore/jobs';
import { isTraceparent } from '@longshore/jobs/storage';
import type { Middleware } from 'koa';

const current = new AsyncLocalStorage<string>();

/**
 * Keeps the `traceparent` of a request available while the request is handled. Ignores a malformed header, as W3C Trace
 * Context requires.
 */
export const traceRequests: Middleware = (context, next) => {
  const traceparent = context.get('traceparent');
  return isTraceparent(traceparent) ? current.run(traceparent, next) : next();
};

/**
 * Passes the `traceparent` of the current request to the jobs that the request enqueues. A job's own `traceparent`
 * takes precedence.
 */
export const traceJobs: EnqueueMiddleware = (context, next) => {
  const traceparent = current.getStore();
  if (traceparent !== undefined) {
    context.requests = context.requests.map((request) => ({
      ...request,
      options: { traceparent, ...request.options },
    }));
  }
  return next();
};
