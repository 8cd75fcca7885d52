import { setTimeout as sleep } from 'node:timers/promises';
import Router from '@koa/router';
import type { JobServer, JobStorage } from '@longshore/jobs';
import type Koa from 'koa';
import { createMetrics, measureAttempts } from './metrics.js';

/** The data of a service's health routes. */
export interface Health {
  /** Resolves if the service can do its work; rejects with the reason if not. */
  ready(): Promise<void>;
  /** Returns Prometheus text; see {@link createMetrics}. */
  metrics(): Promise<{ contentType: string; text: string }>;
}

/** Metrics are computed at most once in this time. */
const metricsHoldMs = 1_000;

/** The time limit of a readiness check. */
const readyMs = 2_000;

/**
 * Creates the routes `/healthz` (the process answers), `/readyz` (its storage answers, too) and `/metrics` (at most a second
 * old). Paths match exactly, so a gateway that blocks one of them blocks every spelling of it.
 *
 * @param count middleware that rate-limits requests for the metrics
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

/** Shares one call between concurrent callers, and its result for `holdMs` afterwards. */
function shared<Result>(work: () => Promise<Result>, holdMs: number): () => Promise<Result> {
  let current: Promise<Result> | undefined;
  return () => {
    if (current !== undefined) return current;
    const started = work();
    current = started;
    const forget = (): void => {
      if (current === started) current = undefined;
    };
    started.then(() => (holdMs === 0 ? forget() : setTimeout(forget, holdMs).unref()), forget);
    return started;
  };
}

async function inTime(check: Promise<void>): Promise<void> {
  const checked = new AbortController();
  const timeout = sleep(readyMs, undefined, { signal: checked.signal, ref: false }).then(() => {
    throw new Error(`no response within ${readyMs} ms`);
  });
  try {
    await Promise.race([check, timeout]);
  } finally {
    timeout.catch(() => undefined);
    checked.abort();
  }
}

/** The health routes of a service, and what they report. */
export interface Readiness {
  readonly routes: Router;
  /** Marks the storage as open; `/readyz` then checks it. */
  opened(): void;
  /** Adds the attempts of this server to `/metrics`. */
  runs(server: JobServer): void;
}

/**
 * Creates the health routes of a service with a storage. It is not ready until the storage is open.
 *
 * @param count middleware that rate-limits requests for the metrics
 */
export function storageHealth(service: string, storage: JobStorage, count?: Koa.Middleware): Readiness {
  let open = false;
  const metrics = createMetrics(service, storage);
  return {
    routes: healthRoutes(
      {
        ready: async () => {
          if (!open) throw new Error('the storage is not open yet');
          await storage.ping();
        },
        metrics: async () => ({ contentType: metrics.contentType, text: await metrics.metrics() }),
      },
      count,
    ),
    opened: () => {
      open = true;
    },
    runs: (server) => measureAttempts(server, metrics),
  };
}
