import { AsyncLocalStorage } from 'node:async_hooks';
import Router from '@koa/router';
import { type EnqueueMiddleware, JobEvents, JobServer } from '@longshore/jobs';
import { isTraceparent } from '@longshore/jobs/storage';
import { answerMalformedHttp, countRequests } from '@longshore/resources';
import {
  AccessLog,
  createServiceApp,
  drain,
  jobServerOptions,
  listen,
  loadApplication,
  type Logger,
  measureEnqueued,
  measurePools,
  measureRequests,
  observeRequests,
  type OnRelease,
  OutageWatch,
  processMetrics,
  type RunningService,
  startService,
  startTracing,
  storageHealth,
  whenAvailable,
} from '@longshore/service';
import type Koa from 'koa';
import { createAccess } from './access/access.js';
import { memoryApiKeyStore } from './access/api-key-store.js';
import { tableApiKeyStore } from './access/table-api-key-store.js';
import { type ApiConfig, rootUrlOf, showsDashboard } from './config.js';
import { resourceApi } from './resource-api.js';
import { apiTables, createStorage } from './storage.js';
import { testRoute } from './test-route.js';

/**
 * Starts the HTTP API. Accepts connections before the storage is open. Resolves once the API is ready.
 *
 * @throws if it cannot start, or the reason of the signal if it aborts first; everything has been released then
 */
export function startApi(config: ApiConfig, logger: Logger, signal: AbortSignal): Promise<RunningService> {
  return startService(logger, signal, (onRelease) => start(config, logger, signal, onRelease));
}

async function start(
  config: ApiConfig,
  logger: Logger,
  signal: AbortSignal,
  onRelease: OnRelease,
): Promise<undefined> {
  const tracing = await startTracing(config, 'api', logger, onRelease);
  const stored = createStorage(config, logger);
  const { jobs: storage, application: database } = stored;
  onRelease(() => Promise.all([storage.close(), database.close()]));
  const metrics = processMetrics('api', config.WORKER_VERSION);
  measurePools(metrics, () =>
    stored.kind === 'postgres' ? [...stored.jobs.pools(), ...stored.application.pools()] : [],
  );
  const application = await loadApplication(config, {
    storage,
    database: database.pool,
    logger,
    clientMiddleware: [...tracing.clientMiddleware, traceJobs, measureEnqueued(metrics)],
    serverMiddleware: tracing.serverMiddleware,
  });
  onRelease(() => application.stop());
  const events = new JobEvents(storage, { logger });
  const inOneProcess = stored.kind === 'memory';
  const keys = inOneProcess
    ? memoryApiKeyStore(storage.clock, storage.audit)
    : tableApiKeyStore(database.pool, apiTables(config).keys, storage.audit);
  const ping = (): Promise<unknown> =>
    stored.kind === 'postgres' ? Promise.all([storage.ping(), stored.application.ping()]) : storage.ping();
  const outages = new OutageWatch(ping, logger);
  const access = createAccess(config, keys, logger, storage.clock, outages);
  const health = storageHealth(metrics, storage, {
    count: countRequests(access),
    ...(stored.kind === 'postgres' && {
      check: async () => stored.application.isConnected && stored.application.ping(),
    }),
  });

  const app = createServiceApp(config, logger);
  const accessLog = new AccessLog(logger, config.HTTP_ACCESS_LOG_PER_SECOND);
  app.use(
    observeRequests(
      [measureRequests(metrics, access.rateLimit ?? { refused: 0 }), accessLog.add],
      tracing.startRequest,
    ),
  );
  app.use(outages.middleware);
  app.use(traceRequests);
  app.use(resourceApi({ storage: stored, events, application, access, config, logger }));
  const routers = application.hasTestJob
    ? [health.routes, testRoute(application.client, access, config)]
    : [health.routes];
  useOpenRoutes(app, routers, config.API_PATH_PREFIX);
  // Imported only if it is shown, because loading the dashboard takes a while, and most APIs do not show it.
  const dashboard = showsDashboard(config) ? await import('./embedded-dashboard.js') : null;
  const closing = new AbortController();
  const definitions = application.handlers.map(({ definition }) => definition);
  const alerts = dashboard?.embedDashboard(
    app,
    config,
    storage,
    definitions,
    logger,
    outages,
    closing.signal,
  );
  const embedded = config.API_EMBEDDED_SERVER ?? inOneProcess;
  const server = embedded ? new JobServer(jobServerOptions(application, storage, config, logger)) : null;
  if (server !== null) onRelease(() => server.stop()); // after the listener is closed
  const listener = await listen(app, config, logger, rootUrlOf(config));
  onRelease(async () => {
    const closed = listener.close(); // first, so that clients do not open another stream here
    closing.abort();
    outages.stop();
    try {
      await events.close(); // ends requests that wait for events, so that the listener can close
      await alerts?.stop();
    } finally {
      await closed;
    }
  });
  answerMalformedHttp(listener.server, rootUrlOf(config));

  const available = (step: () => Promise<unknown>): Promise<unknown> =>
    whenAvailable(() => health.starts(step()), logger, signal);
  await available(() => storage.open());
  const queues = application.handlers.map(({ definition }) => definition.queue);
  await available(() => storage.quotas.defineQueues([...new Set(queues)]));
  const { tables } = application;
  if (!inOneProcess) await available(() => database.migrate(apiTables(config).migrations));
  if (tables !== undefined) await available(() => database.migrate(tables.migrations));
  if (config.API_SEED_ROWS > 0) await tables?.seed?.(database.pool, config.API_SEED_ROWS);
  await application.start();
  if (server !== null) health.runs(server);
  if (server !== null) await available(() => server.start());
  health.opened();
  onRelease(() => drain(health, config));
  alerts?.start();
  logger.info({ storage: config.API_STORAGE, application: application.name, embedded }, 'ready');
}

/** Mounts routes outside of `/api` both with and without the prefix, because a gateway may or may not strip it. */
function useOpenRoutes(app: Koa, routers: readonly Router[], prefix: string): void {
  const openRouter = new Router({ sensitive: true, strict: true });
  for (const router of routers) {
    openRouter.use(router.routes());
    if (prefix !== '') openRouter.use(prefix, router.routes());
  }
  app.use(openRouter.routes()).use(openRouter.allowedMethods());
}

const current = new AsyncLocalStorage<string>();

/**
 * Keeps the `traceparent` of a request available while the request is handled. Ignores a malformed header, as W3C Trace
 * Context requires.
 */
export const traceRequests: Koa.Middleware = (context, next) => {
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
