import { AsyncLocalStorage } from 'node:async_hooks';
import type { EnqueueMiddleware } from '@longshore/jobs';
import { isTraceparent } from '@longshore/jobs/storage';
import type { Middleware } from 'koa';

const current = new AsyncLocalStorage<string>();

/** Keeps a request's `traceparent` available while the request is handled. A malformed one is ignored, as W3C Trace Context requires. */
export const traceRequests: Middleware = (context, next) => {
  const traceparent = context.get('traceparent');
  return isTraceparent(traceparent) ? current.run(traceparent, next) : next();
};

/** Gives the jobs that a request enqueues its `traceparent`. */
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
