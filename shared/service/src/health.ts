import Router from '@koa/router';
import type Koa from 'koa';

/** What the health routes report. */
export interface Health {
  /** Resolves if the service can do its work now; rejects with the reason if not. */
  ready(): Promise<void>;
  /** Prometheus text; see {@link createMetrics}. */
  metrics(): Promise<{ contentType: string; text: string }>;
}

/** How long computed metrics are cached, in milliseconds. */
const metricsHoldMs = 1_000;

/** Time limit of a readiness check, in milliseconds. */
const readyMs = 2_000;

/**
 * `/healthz`: the process answers. `/readyz`: its storage does too. `/metrics`: its numbers, at most a second old.
 * Each has one spelling, so that a gateway that keeps one to itself keeps all of it.
 *
 * @param count counts a request for the metrics
 */
export function healthRoutes(health: Health, count: Koa.Middleware = (_context, next) => next()): Router {
  const router = new Router({ sensitive: true, strict: true });
  const ready = shared(() => inTime(health.ready()), 0);
  const metrics = shared(() => health.metrics(), metricsHoldMs);
  router.get('/healthz', (context) => {
    context.set('cache-control', 'no-store');
    context.body = { status: 'ok' };
  });
  router.get('/readyz', async (context) => {
    context.set('cache-control', 'no-store');
    try {
      await ready();
      context.body = { status: 'ready' };
    } catch (error) {
      context.status = 503;
      context.body = { status: 'not ready', reason: error instanceof Error ? error.message : 'unknown' };
    }
  });
  router.get('/metrics', count, async (context) => {
    const { contentType, text } = await metrics();
    context.set('content-type', contentType);
    context.body = text;
  });
  return router;
}

/** Callers share what is under way, and for so long what came of it. */
function shared<Result>(work: () => Promise<Result>, holdMs: number): () => Promise<Result> {
  let current: Promise<Result> | undefined;
  return () => {
    if (current !== undefined) return current;
    const begun = work();
    current = begun;
    const forget = (): void => {
      if (current === begun) current = undefined;
    };
    begun.then(() => (holdMs === 0 ? forget() : setTimeout(forget, holdMs).unref()), forget);
    return begun;
  };
}

async function inTime(check: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${readyMs} ms`)), readyMs);
  });
  try {
    await Promise.race([check, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
