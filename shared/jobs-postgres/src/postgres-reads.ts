import type {
  Attempt,
  Batch,
  BatchListQuery,
  Clock,
  ContinuationPage,
  Job,
  JobCount,
  JobDocuments,
  JobFilter,
  JobListQuery,
  JobPage,
  JobPageQuery,
  JobReader,
  JobState,
  Lease,
  LogLine,
  LatestFailedQuery,
  LogQuery,
  LostServer,
  NearJobs,
  Orphan,
  Queue,
  Server,
  StalledLeaseQuery,
  StateCounts,
  TransactionClient,
  Transition,
} from '@longshore/jobs';
import type { StorageParts } from './storage-parts.js';

/** What people look at: every method hands over to the part of the storage whose role it is. */
export class PostgresReads implements JobReader {
  protected readonly parts: StorageParts;

  constructor(parts: StorageParts) {
    this.parts = parts;
  }

  findJob(id: string, transaction?: TransactionClient): Promise<Job | null> {
    return this.parts.reader.findJob(id, transaction);
  }

  findDocuments(jobId: string): Promise<JobDocuments | null> {
    return this.parts.reader.findDocuments(jobId);
  }

  listJobs(query: JobListQuery): Promise<Job[]> {
    return this.parts.reader.listJobs(query);
  }

  listJobPage(query: JobPageQuery): Promise<JobPage> {
    return this.parts.reader.listJobPage(query);
  }

  listNearJobs(query: JobListQuery): Promise<NearJobs> {
    return this.parts.reader.listNearJobs(query);
  }

  listLatestFailed(query: LatestFailedQuery): Promise<Job[]> {
    return this.parts.failures.listLatestFailed(query);
  }

  countJobs(filter?: JobFilter): Promise<JobCount> {
    return this.parts.reader.countJobs(filter);
  }

  countJobsByState(filter?: JobFilter): Promise<Record<JobState, JobCount>> {
    return this.parts.reader.countJobsByState(filter);
  }

  stateCounts(): Promise<StateCounts> {
    return this.parts.reader.stateCounts();
  }

  listAttempts(jobId: string): Promise<Attempt[]> {
    return this.parts.reader.listAttempts(jobId);
  }

  listLogs(jobId: string, query?: LogQuery): Promise<LogLine[]> {
    return this.parts.reports.listLogs(jobId, query);
  }

  listTransitions(jobId: string): Promise<Transition[]> {
    return this.parts.reports.listTransitions(jobId);
  }

  countLogs(jobId: string, query?: Pick<LogQuery, 'attempt'>): Promise<number> {
    return this.parts.reports.countLogs(jobId, query);
  }

  listContinuations(id: string, page?: ContinuationPage): Promise<Job[]> {
    return this.parts.reader.listContinuations(id, page);
  }

  findBatch(id: string, transaction?: TransactionClient): Promise<Batch | null> {
    return this.parts.batches.findBatch(id, transaction);
  }

  listBatches(query: BatchListQuery): Promise<Batch[]> {
    return this.parts.batches.listBatches(query);
  }

  countBatches(): Promise<JobCount> {
    return this.parts.batches.countBatches();
  }

  findQueue(name: string, transaction?: TransactionClient): Promise<Queue | null> {
    return this.parts.reader.findQueue(name, transaction);
  }

  listQueues(): Promise<Queue[]> {
    return this.parts.reader.listQueues();
  }

  listServers(): Promise<Server[]> {
    return this.parts.reader.listServers();
  }

  findLease(job: Pick<Job, 'id' | 'queue'>): Promise<Lease | null> {
    return this.parts.leases.findLease(job);
  }

  listStalledLeases(query: StalledLeaseQuery): Promise<Lease[]> {
    return this.parts.leases.listStalledLeases(query);
  }

  listLostServers(): Promise<LostServer[]> {
    return this.parts.registry.listLostServers();
  }

  get clock(): Clock {
    return this.parts.clock;
  }

  readClock(): Promise<Date> {
    return this.parts.registry.readClock();
  }

  listOrphans(): Promise<Orphan[]> {
    return this.parts.reader.listOrphans();
  }

  ping(): Promise<void> {
    return this.parts.reader.ping();
  }
}
