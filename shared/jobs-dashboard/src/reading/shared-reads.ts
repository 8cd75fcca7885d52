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
  return {
    findJob: (id) => snapshot.share(key('job', id), () => reader.findJob(id)),
    findDocuments: (id) => snapshot.share(key('documents', id), () => reader.findDocuments(id)),
    listJobs: (query) => snapshot.share(key('jobs', query), () => reader.listJobs(query)),
    listNearJobs: (query) => snapshot.share(key('near', query), () => reader.listNearJobs(query)),
    listLatestFailed: ({ queue, limit }) =>
      snapshot.share(key('latest failed', queue, limit), () =>
        reader.listLatestFailed({ limit, ...(queue !== undefined && { queue }) }),
      ),
    countJobs: (filter) => snapshot.share(key('count', filter), () => reader.countJobs(filter)),
    countJobsByState: (filter) =>
      snapshot.share(key('counts', filter), () => reader.countJobsByState(filter)),
    stateCounts: () => snapshot.share('states', () => reader.stateCounts()),
    listAttempts: (id) => snapshot.share(key('attempts', id), () => reader.listAttempts(id)),
    listLogs: (id, query) => snapshot.share(key('logs', id, query), () => reader.listLogs(id, query)),
    listTransitions: (id) => snapshot.share(key('transitions', id), () => reader.listTransitions(id)),
    countLogs: (id, query) => snapshot.share(key('log count', id, query), () => reader.countLogs(id, query)),
    listContinuations: (id, page) =>
      snapshot.share(key('continuations', id, page), () => reader.listContinuations(id, page)),
    findBatch: (id) => snapshot.share(key('batch', id), () => reader.findBatch(id)),
    listBatches: (query) => snapshot.share(key('batches', query), () => reader.listBatches(query)),
    countBatches: () => snapshot.share('batch count', () => reader.countBatches()),
    findQueue: (name) => snapshot.share(key('queue', name), () => reader.findQueue(name)),
    listQueues: () =>
      snapshot.shareStale(
        'queues',
        () => reader.listQueues(),
        ({ length }) => (length < MANY_QUEUES ? snapshot.lifetimeMs : STEADY_MS),
      ),
    listServers: () => snapshot.share('servers', () => reader.listServers()),
    findLease: ({ id, queue }) =>
      snapshot.share(key('lease', id, queue), () => reader.findLease({ id, queue })),
    listStalledLeases: (query) =>
      snapshot.shareStale(key('stalled', query), () => reader.listStalledLeases(query), steadily),
    listLostServers: () => snapshot.shareStale('lost', () => reader.listLostServers(), steadily),
    clock: reader.clock,
    /** What was read a moment ago is not what time it is. */
    readClock: () => reader.readClock(),
    listOrphans: () => snapshot.shareStale('orphans', () => reader.listOrphans(), steadily),
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
