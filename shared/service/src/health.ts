import { setTimeout as sleep } from 'node:timers/promises';
import Router from '@koa/router';
import { type JobServer, type JobStorage, StorageUnavailableError } from '@longshore/jobs';
import type Koa from 'koa';
import type { Registry } from 'prom-client';
import { measureServer } from './job-metrics.js';
import { measureStorage } from './process-metrics.js';
import { type MeasuredStorage, readStorageMetrics } from './storage-metrics.js';

/** What the health routes of a service report. */
export interface Health {
  /** Resolves to details if the service can do its work; otherwise rejects with the reason. */
  ready(): Promise<object>;
  /** Returns the metrics of this process. */
  metrics(): Promise<Registry>;
  /** Returns the metrics of the storage, which are the same in all processes. */
  storageMetrics(): Promise<Registry>;
}

/** How long computed metrics are reused, in milliseconds. */
const metricsHoldMs = 1_000;

/** Time limit of a readiness check, in milliseconds. Probes usually wait for a second. */
const readyMs = 800;

/** How long a server can be unable to claim jobs before it is not ready, in milliseconds. */
const stalledMs = 5_000;

/**
 * Creates the health routes:
 * - `/healthz`: the process responds.
 * - `/readyz`: the service can do its work.
 * - `/metrics`: the metrics of this process, for Prometheus; at most about a second old, like the next ones.
 * - `/metrics/storage`: the metrics of the storage. Every process returns the same, so scrape one of them.
 *
 * Paths match exactly, so a gateway that blocks a path need not consider other spellings.
 *
 * @param count middleware that counts requests for metrics towards a rate limit; by default, requests are not
 *   counted
 * @param now returns milliseconds of a monotonic clock
 */
export function healthRoutes(
  health: Health,
  count: Koa.Middleware = (_context, next) => next(),
  now: () => number = () => performance.now(),
): Router {
  const router = new Router({ sensitive: true, strict: true });
  const ready = shared(() => inTime(health.ready()), 0, now);
  const metricRoutes = {
    '/metrics': () => health.metrics(),
    '/metrics/storage': () => health.storageMetrics(),
  };
  router.get('/healthz', (context) => {
    context.set('cache-control', 'no-store');
    context.body = { status: 'ok' };
  });
  router.get('/readyz', async (context) => {
    context.set('cache-control', 'no-store');
    try {
      context.body = { status: 'ready', ...(await ready()) };
    } catch (error) {
      context.status = 503;
      context.body = { status: 'not ready', reason: reasonOf(error, context) };
    }
  });
  for (const [path, read] of Object.entries(metricRoutes)) {
    const metrics = shared(() => read().then(textOf), metricsHoldMs, now);
    router.get(path, count, async (context) => {
      const { contentType, text } = await metrics();
      context.set('content-type', contentType);
      context.body = text;
    });
  }
  return router;
}

async function textOf(registry: Registry): Promise<{ contentType: string; text: string }> {
  return { contentType: registry.contentType, text: await registry.metrics() };
}

/** Thrown if a service is not ready. The message is for anyone who can send a request. */
class NotReadyError extends Error {}

/**
 * Returns why a service is not ready, for anyone who can send a request: without addresses. Reports an error that was not
 * written for them to the application, which logs it.
 */
function reasonOf(error: unknown, { app }: Koa.Context): string {
  if (error instanceof NotReadyError) return error.message;
  if (error instanceof StorageUnavailableError) return error.summary;
  app.emit('error', error);
  return 'Something that the service needs cannot be used; the log of the service states what';
}

/**
 * Wraps a function so that concurrent callers share one call. A result is reused for `holdMs` milliseconds. An error is
 * not reused.
 */
function shared<Result>(
  work: () => Promise<Result>,
  holdMs: number,
  now: () => number,
): () => Promise<Result> {
  let current: Promise<Result> | undefined;
  let heldUntilMs = Infinity;
  return () => {
    if (current !== undefined && now() < heldUntilMs) return current;
    const started = work();
    current = started;
    heldUntilMs = Infinity;
    const hold = (ms: number): void => {
      if (current === started) heldUntilMs = now() + ms;
    };
    started.then(
      () => hold(holdMs),
      () => hold(0),
    );
    return started;
  };
}

async function inTime<Result>(check: Promise<Result>): Promise<Result> {
  const checked = new AbortController();
  const timeout = sleep(readyMs, undefined, { signal: checked.signal, ref: false }).then(() => {
    throw new NotReadyError(`no response within ${readyMs} ms`);
  });
  try {
    return await Promise.race([check, timeout]);
  } finally {
    timeout.catch(() => undefined);
    checked.abort();
  }
}

export interface ReadinessOptions {
  /** Rejects if something else that the service needs is not usable, such as the application's database. */
  readonly check?: () => Promise<unknown>;
  /** Middleware that counts requests for metrics towards a rate limit. */
  readonly count?: Koa.Middleware;
  /** Returns milliseconds of a monotonic clock. */
  readonly now?: () => number;
}

/** The health routes of a service that uses a job storage. */
export interface Readiness {
  readonly routes: Router;
  /**
   * Keeps why a step of the start has failed, for `/readyz`, which reports it until the storage is open. Settles as the
   * step does.
   */
  starts<Result>(step: Promise<Result>): Promise<Result>;
  /**
   * Reports that the storage is open. Until then, the service is not ready. Afterwards, `/readyz` checks the storage.
   */
  opened(): void;
  /** Reports that the service is stopping. From then on, it is not ready. */
  stopping(): void;
  /** Adds the metrics of a job server to `/metrics`. The service is then only ready while it claims jobs. */
  runs(server: JobServer): void;
}

/**
 * Creates the health routes of a service that uses a job storage, and adds the storage to the metrics of the process. The
 * service is not ready until the storage is open, while the storage cannot be written to, while its job server cannot
 * claim jobs, and while it is stopping.
 */
export function storageHealth(
  metrics: Registry,
  storage: JobStorage & MeasuredStorage,
  { check, count, now }: ReadinessOptions = {},
): Readiness {
  let open = false;
  let stopping = false;
  let obstacle = 'the storage is not open yet';
  const servers: JobServer[] = [];
  measureStorage(metrics, () =>
    inTime(storage.ping()).then(
      () => true,
      () => false,
    ),
  );
  return {
    routes: healthRoutes(
      {
        ready: async () => {
          if (stopping) throw new NotReadyError('the service is stopping');
          if (!open) throw new NotReadyError(obstacle);
          const [replica] = await Promise.all([storage.readReplica(), storage.ping(), check?.()]);
          for (const server of servers) checkClaiming(server);
          return replica === null ? {} : { replica };
        },
        metrics: async () => metrics,
        storageMetrics: () => readStorageMetrics(storage),
      },
      count,
      now,
    ),
    starts: async (step) => {
      try {
        return await step;
      } catch (error) {
        if (error instanceof StorageUnavailableError) obstacle = error.summary;
        throw error;
      }
    },
    opened: () => {
      open = true;
    },
    stopping: () => {
      stopping = true;
    },
    runs: (server) => {
      servers.push(server);
      measureServer(metrics, server);
    },
  };
}

/** @throws {NotReadyError} if the server is not registered, or has not been able to claim jobs for a while */
function checkClaiming(server: JobServer): void {
  if (server.id === null)
    throw new NotReadyError('the job server is not registered: it was silent, and will register again');
  if (server.stalledMs > stalledMs)
    throw new NotReadyError(
      `the job server has not been able to claim jobs for ${Math.round(server.stalledMs / 1_000)} s`,
    );
}
