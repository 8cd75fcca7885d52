import type { JobServer, JobStorage } from '@longshore/jobs';
import type Router from '@koa/router';
import type Koa from 'koa';
import { measureAttempts } from './attempt-metrics.js';
import { healthRoutes } from './health.js';
import { createMetrics } from './metrics.js';

/** The health state of a service, for its routes. */
export interface Readiness {
  readonly routes: Router;
  /** Makes `/readyz` depend on the storage from now on. */
  opened(): void;
  /** What this server runs is counted in `/metrics`. */
  runs(server: JobServer): void;
}

/**
 * The health routes of a service that works on a storage: not ready until the storage has been opened.
 *
 * @param count counts a request for the metrics
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
