import type { DashboardReader } from './dashboard-reader.js';
import type { Snapshot } from './snapshot.js';

/** For what does not change from one look to the next and costs the storage more than the rest. */
const STEADY_MS = 5_000;

/** To read a thousand queues takes 30 ms, of which this process has 15. */
const MANY_QUEUES = 200;

const steadily = (): number => STEADY_MS;

/** Reads through the snapshot, so that the storage sees each read once, whichever page and viewer it is for. */
export function shareReads(reader: DashboardReader, snapshot: Snapshot): DashboardReader {
  const key = (...parts: unknown[]): string => JSON.stringify(parts);
  const { jobs, reports, queues, servers, leases, batches } = reader;
  return {
    jobs: {
      find: (id) => snapshot.share(key('job', id), () => jobs.find(id)),
      findDocuments: (id) => snapshot.share(key('documents', id), () => jobs.findDocuments(id)),
      list: (query) => snapshot.share(key('jobs', query), () => jobs.list(query)),
      listPage: (query) => snapshot.share(key('page', query), () => jobs.listPage(query)),
      listNear: (query) => snapshot.share(key('near', query), () => jobs.listNear(query)),
      listLatestFailed: ({ queue, limit }) =>
        snapshot.share(key('latest failed', queue, limit), () =>
          jobs.listLatestFailed({ limit, ...(queue !== undefined && { queue }) }),
        ),
      count: (filter) => snapshot.share(key('count', filter), () => jobs.count(filter)),
      countByState: (filter) => snapshot.share(key('counts', filter), () => jobs.countByState(filter)),
      stateCounts: () => snapshot.share('states', () => jobs.stateCounts()),
      listAttempts: (id) => snapshot.share(key('attempts', id), () => jobs.listAttempts(id)),
      listContinuations: (id, page) =>
        snapshot.share(key('continuations', id, page), () => jobs.listContinuations(id, page)),
      listOrphans: () => snapshot.shareStale('orphans', () => jobs.listOrphans(), steadily),
    },
    reports: {
      listLogs: (id, query) => snapshot.share(key('logs', id, query), () => reports.listLogs(id, query)),
      countLogs: (id, query) =>
        snapshot.share(key('log count', id, query), () => reports.countLogs(id, query)),
      listTransitions: (id) => snapshot.share(key('transitions', id), () => reports.listTransitions(id)),
    },
    queues: {
      find: (name) => snapshot.share(key('queue', name), () => queues.find(name)),
      list: () =>
        snapshot.shareStale(
          'queues',
          () => queues.list(),
          ({ length }) => (length < MANY_QUEUES ? snapshot.lifetimeMs : STEADY_MS),
        ),
    },
    servers: {
      list: () => snapshot.share('servers', () => servers.list()),
      listLost: () => snapshot.shareStale('lost', () => servers.listLost(), steadily),
    },
    leases: {
      find: ({ id, queue }) => snapshot.share(key('lease', id, queue), () => leases.find({ id, queue })),
      listStalled: (query) =>
        snapshot.shareStale(key('stalled', query), () => leases.listStalled(query), steadily),
    },
    batches: {
      find: (id) => snapshot.share(key('batch', id), () => batches.find(id)),
      list: (query) => snapshot.share(key('batches', query), () => batches.list(query)),
      count: () => snapshot.share('batch count', () => batches.count()),
    },
    clock: reader.clock,
    /** What was read a moment ago is not what time it is. */
    readClock: () => reader.readClock(),
    setAside: {
      list: (query) =>
        snapshot.shareStale(key('set aside', query), () => reader.setAside.list(query), steadily),
    },
    recurring: {
      find: (id) => snapshot.share(key('recurring', id), () => reader.recurring.find(id)),
      findArgs: (id) => snapshot.share(key('recurring arguments', id), () => reader.recurring.findArgs(id)),
      list: () => snapshot.shareStale('recurring', () => reader.recurring.list(), steadily),
    },
    bulk: {
      find: (id) => snapshot.share(key('bulk', id), () => reader.bulk.find(id)),
      list: (query) => snapshot.share(key('bulks', query), () => reader.bulk.list(query)),
    },
    statistics: {
      listErrorGroups: (query) =>
        snapshot.shareStale(key('errors', query), () => reader.statistics.listErrorGroups(query), steadily),
      throughput: (query) =>
        snapshot.shareStale(
          key('throughput', query),
          () => reader.statistics.throughput(query),
          () => Math.min(query.bucketMs / 10, STEADY_MS),
        ),
      throughputByQueue: (query) =>
        snapshot.shareStale(
          key('throughput by queue', query),
          () => reader.statistics.throughputByQueue(query),
          steadily,
        ),
    },
    audit: { list: (query) => snapshot.share(key('audit', query), () => reader.audit.list(query)) },
    ping: () => reader.ping(),
  };
}
