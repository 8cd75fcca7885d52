import { readFileSync } from 'node:fs';
import type { PoolStatus } from '@longshore/jobs/storage';
import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client';

/** The version of this package, which is that of all services. */
export const serviceVersion = (
  JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    readonly version: string;
  }
).version;

/** Gauges of prom-client whose names end with `_total`, which Prometheus reserves for counters. Others have the same values. */
const misnamed = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

/**
 * Creates the registry of the metrics of this process, with those of Node.js and `longshore_build_info`.
 *
 * @param service the name of the service, such as `api`
 * @param application the version of the application; empty if it has none
 */
export function processMetrics(service: string, application = ''): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of misnamed) registry.removeSingleMetric(name);
  new Gauge({
    name: 'longshore_build_info',
    help: 'Always 1. The labels are the service, its version, and the version of the application (WORKER_VERSION)',
    labelNames: ['service', 'version', 'application_version'],
    registers: [registry],
  }).set({ service, version: serviceVersion, application_version: application }, 1);
  return registry;
}

/** Adds the connection pools of this process to its metrics. */
export function measurePools(registry: Registry, pools: () => readonly PoolStatus[]): void {
  const registers = [registry];
  const labelNames = ['pool'] as const;
  const connections = new Gauge({
    name: 'longshore_pool_connections',
    help: 'Open connections of a pool by state: in_use or idle',
    labelNames: ['pool', 'state'],
    registers,
    collect: () => {
      for (const { name: pool, inUse, idle } of pools()) {
        connections.set({ pool, state: 'in_use' }, inUse);
        connections.set({ pool, state: 'idle' }, idle);
      }
    },
  });
  const gauge = (name: string, help: string, valueOf: (pool: PoolStatus) => number): void => {
    const metric = new Gauge({
      name,
      help,
      labelNames,
      registers,
      collect: () => {
        for (const pool of pools()) metric.set({ pool: pool.name }, valueOf(pool));
      },
    });
  };
  const counter = (name: string, help: string, valueOf: (pool: PoolStatus) => number): void => {
    const metric = new Counter({
      name,
      help,
      labelNames,
      registers,
      collect: () => {
        metric.reset();
        for (const pool of pools()) metric.inc({ pool: pool.name }, valueOf(pool));
      },
    });
  };
  gauge('longshore_pool_max_connections', 'Maximum number of connections of a pool', ({ size }) => size);
  gauge(
    'longshore_pool_waiting_calls',
    'Calls that wait for a connection of a pool',
    ({ waiting }) => waiting,
  );
  counter('longshore_pool_connects_total', 'Connections that a pool has opened', ({ connects }) => connects);
  counter(
    'longshore_pool_connect_errors_total',
    'Connections that a pool could not open',
    ({ connectErrors }) => connectErrors,
  );
  counter(
    'longshore_pool_connect_seconds_total',
    'How long opening connections took in total, failures included',
    ({ connectMs }) => connectMs / 1_000,
  );
}

/**
 * Adds `longshore_storage_up` to the metrics of a process.
 *
 * @param isUp whether this process can use the storage; must answer within a second
 */
export function measureStorage(registry: Registry, isUp: () => Promise<boolean>): void {
  const up: Gauge = new Gauge({
    name: 'longshore_storage_up',
    help: '1 if this process reached the storage and could write to it when it was scraped, otherwise 0',
    registers: [registry],
    collect: async () => up.set((await isUp()) ? 1 : 0),
  });
}
