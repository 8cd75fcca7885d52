import type { Cache } from '../cache/cache.js';
import type { DashboardReader } from './dashboard-reader.js';

/** How long the results of slow reads stay fresh if they rarely change, in milliseconds. */
const STEADY_MS = 5_000;

/**
 * Maximum time for which timings stay fresh, in milliseconds. Takes effect only for buckets of more than ten minutes.
 */
const LONG_MS = 60_000;

/** With at least this many queues, the list of queues stays fresh longer, because it takes longer to read. */
const MANY_QUEUES = 200;

type FreshMs = (result: unknown, query: unknown, lifetimeMs: number) => number;

const steady: FreshMs = () => STEADY_MS;

/**
 * How long the results of slow reads stay fresh, by member and method of the reader, such as `queues.list`. These
 * results are refreshed in the background. All other results stay fresh for the cache's default lifetime.
 */
const slowReads: ReadonlyMap<string, FreshMs> = new Map<string, FreshMs>([
  ['jobs.listOrphans', steady],
  ['leases.listStalled', steady],
  [
    'queues.list',
    (queues, _query, lifetimeMs) =>
      (queues as readonly unknown[]).length < MANY_QUEUES ? lifetimeMs : STEADY_MS,
  ],
  ['queues.listBlockingKeys', steady],
  ['recurring.list', steady],
  ['recurring.listMissed', steady],
  ['servers.listLost', steady],
  ['setAside.list', steady],
  ['statistics.listErrorGroups', steady],
  [
    'statistics.throughput',
    (_result, query) => Math.min((query as { readonly bucketMs: number }).bucketMs / 10, STEADY_MS),
  ],
  ['statistics.throughputByQueue', steady],
  ['deployments.list', steady],
  ['alerts.listFailures', steady],
  ['timings.listNames', steady],
  [
    'timings.read',
    (_result, query) => {
      const { bucketMs } = query as { readonly bucketMs: number };
      return Math.min(Math.max(bucketMs / 10, STEADY_MS), LONG_MS);
    },
  ],
]);

/**
 * Wraps a reader in the cache, so that all pages and viewers share fresh results. A cache key consists of the role, the
 * method and the arguments.
 */
export function cachedReader(reader: DashboardReader, cache: Cache): DashboardReader {
  const cached = <Role extends object>(role: string, reads: Role): Role =>
    new Proxy(reads, {
      get: (target, method) => {
        const read = Reflect.get(target, method) as (...args: unknown[]) => Promise<unknown>;
        const name = `${role}.${String(method)}`;
        const freshMs = slowReads.get(name);
        return (...args: unknown[]): Promise<unknown> => {
          const key = JSON.stringify([name, ...args]);
          const load = (): Promise<unknown> => Reflect.apply(read, target, args);
          return freshMs === undefined
            ? cache.read(key, load)
            : cache.readStale(key, load, (result) => freshMs(result, args[0], cache.lifetimeMs));
        };
      },
    });
  const { clock } = reader;
  return {
    jobs: cached('jobs', reader.jobs),
    reports: cached('reports', reader.reports),
    queues: cached('queues', reader.queues),
    servers: cached('servers', reader.servers),
    leases: cached('leases', reader.leases),
    batches: cached('batches', reader.batches),
    recurring: cached('recurring', reader.recurring),
    bulk: cached('bulk', reader.bulk),
    statistics: cached('statistics', reader.statistics),
    audit: cached('audit', reader.audit),
    savedSearches: cached('savedSearches', reader.savedSearches),
    setAside: cached('setAside', reader.setAside),
    timings: cached('timings', reader.timings),
    jobTypes: cached('jobTypes', reader.jobTypes),
    deployments: cached('deployments', reader.deployments),
    alerts: cached('alerts', reader.alerts),
    clock,
    /** Not cached, because the time changes constantly. */
    readClock: () => reader.readClock(),
    ping: () => reader.ping(),
  };
}
