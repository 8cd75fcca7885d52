import type { DashboardReader } from '../src/index.js';

/** Reads from the given reader, except for what is given besides. */
export function readerWith(reader: DashboardReader, own: Partial<DashboardReader>): DashboardReader {
  return {
    findJob: (id) => reader.findJob(id),
    findDocuments: (id) => reader.findDocuments(id),
    listJobs: (query) => reader.listJobs(query),
    listNearJobs: (query) => reader.listNearJobs(query),
    listLatestFailed: (query) => reader.listLatestFailed(query),
    countJobs: (filter) => reader.countJobs(filter),
    countJobsByState: (filter) => reader.countJobsByState(filter),
    stateCounts: () => reader.stateCounts(),
    listAttempts: (id) => reader.listAttempts(id),
    listLogs: (id, query) => reader.listLogs(id, query),
    listTransitions: (id) => reader.listTransitions(id),
    countLogs: (id, query) => reader.countLogs(id, query),
    listContinuations: (id, page) => reader.listContinuations(id, page),
    findBatch: (id) => reader.findBatch(id),
    listBatches: (query) => reader.listBatches(query),
    countBatches: () => reader.countBatches(),
    findQueue: (name) => reader.findQueue(name),
    listQueues: () => reader.listQueues(),
    listServers: () => reader.listServers(),
    findLease: (job) => reader.findLease(job),
    listStalledLeases: (query) => reader.listStalledLeases(query),
    listLostServers: () => reader.listLostServers(),
    clock: reader.clock,
    readClock: () => reader.readClock(),
    listOrphans: () => reader.listOrphans(),
    setAside: reader.setAside,
    recurring: reader.recurring,
    bulk: reader.bulk,
    statistics: reader.statistics,
    audit: reader.audit,
    ping: () => reader.ping(),
    ...own,
  };
}
