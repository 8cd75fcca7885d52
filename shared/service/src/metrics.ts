import type { JobReader } from '@longshore/jobs';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';

/** The process's own numbers, and those of the job storage at the moment of asking. */
export function createMetrics(
  service: string,
  storage: JobReader,
): () => Promise<{ contentType: string; text: string }> {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  collectDefaultMetrics({ register: registry });
  const jobs: Gauge<'state'> = new Gauge({
    name: 'longshore_jobs',
    help: 'Jobs by state, over all queues',
    labelNames: ['state'],
    registers: [registry],
    collect: async () => {
      for (const [state, count] of Object.entries(await storage.stateCounts())) jobs.set({ state }, count);
    },
  });
  const servers: Gauge = new Gauge({
    name: 'longshore_servers',
    help: 'Running job servers',
    registers: [registry],
    collect: async () => servers.set((await storage.listServers()).length),
  });
  return async () => ({ contentType: registry.contentType, text: await registry.metrics() });
}
