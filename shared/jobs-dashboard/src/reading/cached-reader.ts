import type { Cache } from '../cache/cache.js';
import type { BacklogSamples } from './backlog-samples.js';
import type { DashboardReader } from './dashboard-reader.js';

/** How long the results of slow reads stay fresh if they rarely change, in milliseconds. */
const STEADY_MS = 5_000;

/**
 * Maximum time for which timings stay fresh, in milliseconds. Takes effect only for buckets of more than ten minutes.
 */
const LONG_MS = 60_000;

/** With at least this many queues, the list of queues stays fresh longer, because it takes longer to read. */
const MANY_QUEUES = 200;

type CachedReads = Omit<DashboardReader, 'clock' | 'readClock' | 'ping'>;

/** Returns how long a result stays fresh, in milliseconds. */
type FreshMs<Read> = Read extends (...args: infer Args) => Promise<infer Result>
  ? (result: Result, query: Args[0], lifetimeMs: number) => number
  : never;

const steady = (): number => STEADY_MS;

/**
 * How long the results of slow reads stay fresh. These results are refreshed in the background. All other results stay
 * fresh for the cache's default lifetime.
 */
const slowReads: {
  readonly [Role in keyof CachedReads]?: {
    readonly [Method in keyof CachedReads[Role]]?: FreshMs<CachedReads[Role][Method]>;
  };
} = {
  jobs: { listOrphans: steady },
  leases: { listStalled: steady },
  queues: {
    list: (queues, _query, lifetimeMs) => (queues.length < MANY_QUEUES ? lifetimeMs : STEADY_MS),
    listBlockingKeys: steady,
  },
  recurring: { list: steady, listMissed: steady },
  servers: { listLost: steady },
  setAside: { list: steady },
  statistics: {
    listErrorGroups: steady,
    throughput: (_result, { bucketMs }) => Math.min(bucketMs / 10, STEADY_MS),
    throughputByQueue: steady,
  },
  deployments: { list: steady },
  alerts: { listFailures: steady },
  installation: { read: steady },
  warningRules: { list: steady },
  timings: {
    listNames: (_result, { sinceMs }) => (sinceMs > 3 * 3_600_000 ? LONG_MS : STEADY_MS),
    readHistories: steady,
    read: (_result, { bucketMs }) => Math.min(Math.max(bucketMs / 10, STEADY_MS), LONG_MS),
  },
};

type AnyFreshMs = (result: unknown, query: unknown, lifetimeMs: number) => number;

/**
 * Wraps a reader in the cache, so that all pages and viewers share fresh results. A cache key consists of the role, the
 * method and the arguments.
 *
 * @param samples remembers the backlogs that are read
 */
export function cachedReader(
  reader: DashboardReader,
  cache: Cache,
  samples?: BacklogSamples,
): DashboardReader {
  const queues = samples?.sampling(reader.queues) ?? reader.queues;
  const cached = <Role extends keyof CachedReads>(
    role: Role,
    source: CachedReads[Role] = reader[role],
  ): CachedReads[Role] =>
    new Proxy(source, {
      get: (target, method) => {
        const read = Reflect.get(target, method) as (...args: unknown[]) => Promise<unknown>;
        const slow = slowReads[role] as Readonly<Record<string | symbol, AnyFreshMs | undefined>> | undefined;
        const freshMs = slow?.[method];
        return (...args: unknown[]): Promise<unknown> => {
          const key = JSON.stringify([role, method, ...args]);
          const load = (): Promise<unknown> => Reflect.apply(read, target, args);
          return freshMs === undefined
            ? cache.read(key, load)
            : cache.readStale(key, load, (result) => freshMs(result, args[0], cache.lifetimeMs));
        };
      },
    });
  const { clock } = reader;
  return {
    jobs: cached('jobs'),
    reports: cached('reports'),
    steps: cached('steps'),
    queues: cached('queues', queues),
    servers: cached('servers'),
    leases: cached('leases'),
    batches: cached('batches'),
    recurring: cached('recurring'),
    bulk: cached('bulk'),
    statistics: cached('statistics'),
    audit: cached('audit'),
    savedSearches: cached('savedSearches'),
    setAside: cached('setAside'),
    timings: cached('timings'),
    jobTypes: cached('jobTypes'),
    deployments: cached('deployments'),
    incidents: cached('incidents'),
    alerts: cached('alerts'),
    installation: cached('installation'),
    warningRules: cached('warningRules'),
    clock,
    /** Not cached, because the time changes constantly. */
    readClock: () => reader.readClock(),
    ping: () => reader.ping(),
    readReplica: () => reader.readReplica(), // the storage remembers it for two seconds
  };
}
