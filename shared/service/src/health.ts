import Router from '@koa/router';

/** What the outside may ask of a container. */
export interface Health {
  /** Resolves if the service can do its work now; rejects with the reason if not. */
  ready(): Promise<void>;
  /** Prometheus text; see {@link createMetrics}. */
  metrics(): Promise<{ contentType: string; text: string }>;
}

/** How long a readiness check may take. */
const readyMs = 2_000;

/**
 * `/healthz`: the process answers. `/readyz`: its storage does too. `/metrics`: its numbers. Each has one spelling, so that
 * a gateway that keeps one to itself keeps all of it.
 */
export function healthRoutes(health: Health): Router {
  const router = new Router({ sensitive: true, strict: true });
  router.get('/healthz', (context) => {
    context.set('cache-control', 'no-store');
    context.body = { status: 'ok' };
  });
  router.get('/readyz', async (context) => {
    context.set('cache-control', 'no-store');
    try {
      await inTime(health.ready());
      context.body = { status: 'ready' };
    } catch (error) {
      context.status = 503;
      context.body = { status: 'not ready', reason: error instanceof Error ? error.message : 'unknown' };
    }
  });
  router.get('/metrics', async (context) => {
    const { contentType, text } = await health.metrics();
    context.set('content-type', contentType);
    context.body = text;
  });
  return router;
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
