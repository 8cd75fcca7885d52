import type { JobServer, JobStorage } from '@longshore/jobs';
import type Router from '@koa/router';
import type Koa from 'koa';
import { measureAttempts } from './attempt-metrics.js';
import { healthRoutes } from './health.js';
import { createMetrics } from './metrics.js';

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
