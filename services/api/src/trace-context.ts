import { AsyncLocalStorage } from 'node:async_hooks';
import type { EnqueueMiddleware } from '@longshore/jobs';
import { isTraceparent } from '@longshore/jobs/storage';
import type { Middleware } from 'koa';

const current = new AsyncLocalStorage<string>();

/** Remembers a request's `traceparent` while it is answered. A malformed one is ignored, as W3C Trace Context demands. */
export const traceRequests: Middleware = (context, next) => {
  const traceparent = context.get('traceparent');
  return isTraceparent(traceparent) ? current.run(traceparent, next) : next();
};

/** Gives the jobs that a request enqueues its `traceparent`. */
export const traceJobs: EnqueueMiddleware = (context, next) => {
  const traceparent = current.getStore();
  if (traceparent !== undefined) {
    context.orders = context.orders.map((order) => ({
      ...order,
      options: { traceparent, ...order.options },
    }));
  }
  return next();
};
