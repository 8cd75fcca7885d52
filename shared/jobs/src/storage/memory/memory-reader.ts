import type { Batch } from '../../job/batch.js';
import type { Attempt, Job, JobDocuments, LostServer, Queue, Server, StateCounts } from '../../job/job.js';
import { type JobState, jobStates } from '../../job/state.js';
import type { BatchListQuery } from '../batch-store.js';
import type { LatestFailedQuery } from '../failed-jobs.js';
import type { JobFilter } from '../job-filter.js';
import type { LogLine } from '../../job/job-log.js';
import type { Transition } from '../../job/transition.js';
import type { LogQuery } from '../job-reports.js';
import type { Lease, StalledLeaseQuery } from '../lease.js';
import { type Orphan, orphansAmong } from '../orphan.js';
import type { JobCount } from '../job-count.js';
import type {
  ContinuationPage,
  JobListQuery,
  JobPage,
  JobPageQuery,
  JobReader,
  NearJobs,
} from '../storage.js';
import type { Clock } from '../clock.js';
import { type JobRecord, toAttempts, toJob } from './job-record.js';
import { linesOf } from './job-log.js';
import { matcherOf } from './job-matcher.js';
import type { MemoryJobs } from './memory-jobs.js';
import type { QueueRecord } from './memory-queues.js';
import type { MemoryServers } from './memory-servers.js';

/** What people look at, by looking at everything: memory holds little. */
export class MemoryReader implements JobReader {
  protected readonly jobs: MemoryJobs;
  protected readonly servers: MemoryServers;
  readonly clock: Clock;

  constructor(jobs: MemoryJobs, servers: MemoryServers, clock: Clock) {
    this.jobs = jobs;
    this.servers = servers;
    this.clock = clock;
  }

  async findJob(id: string): Promise<Job | null> {
    const record = this.jobs.find(id);
    return record === undefined ? null : toJob(record);
  }

  async findDocuments(jobId: string): Promise<JobDocuments | null> {
    const record = this.jobs.find(jobId);
    return record === undefined ? null : { args: record.args, result: record.result };
  }

  async listJobs({ filter = {}, order = 'newest', limit, offset = 0, after }: JobListQuery): Promise<Job[]> {
    const direction = order === 'newest' ? -1 : 1;
    return this.#matching(filter)
      .filter(({ id }) => after === undefined || compare(id, after) * direction > 0)
      .toSorted((left, right) => compare(left.id, right.id) * direction)
      .slice(offset, offset + limit)
      .map(toJob);
  }

  async listJobPage({ documents = true, maxBytes, ...query }: JobPageQuery): Promise<JobPage> {
    const jobs = await this.listJobs(query);
    if (!documents) return { jobs: jobs.map((job) => ({ ...job, args: null, result: null })), cut: false };
    let bytes = 0;
    const end = jobs.findIndex(({ args, result }, index) => {
      bytes += Buffer.byteLength(JSON.stringify(args)) + Buffer.byteLength(JSON.stringify(result));
      return bytes > maxBytes && index > 0;
    });
    return end < 0 ? { jobs, cut: false } : { jobs: jobs.slice(0, end), cut: true };
  }

  async listNearJobs(query: JobListQuery): Promise<NearJobs> {
    return { jobs: await this.listJobs(query), complete: true };
  }

  async listLatestFailed({ queue, limit }: LatestFailedQuery): Promise<Job[]> {
    const failedAt = ({ finishedAt }: JobRecord): number => finishedAt?.getTime() ?? 0;
    return this.#matching({ state: ['failed'], ...(queue !== undefined && { queue: [queue] }) })
      .toSorted((one, other) => failedAt(other) - failedAt(one) || compare(other.id, one.id))
      .slice(0, limit)
      .map(toJob);
  }

  async countJobs(filter: JobFilter = {}): Promise<JobCount> {
    return { count: this.#matching(filter).length, exact: true };
  }

  async countJobsByState(filter: JobFilter = {}): Promise<Record<JobState, JobCount>> {
    const counts = countStates(this.#matching(filter));
    const exact = jobStates.map((state) => [state, { count: counts[state], exact: true }] as const);
    return Object.fromEntries(exact) as Record<JobState, JobCount>;
  }

  async stateCounts(): Promise<StateCounts> {
    return countStates(this.jobs.all());
  }

  async listAttempts(jobId: string): Promise<Attempt[]> {
    const record = this.jobs.find(jobId);
    return record === undefined ? [] : toAttempts(record);
  }

  async listLogs(jobId: string, query: LogQuery = {}): Promise<LogLine[]> {
    return linesOf(this.jobs.find(jobId), query);
  }

  async listTransitions(jobId: string): Promise<Transition[]> {
    return [...(this.jobs.find(jobId)?.transitions ?? [])];
  }

  async countLogs(jobId: string, query: Pick<LogQuery, 'attempt'> = {}): Promise<number> {
    return linesOf(this.jobs.find(jobId), { ...query, limit: Infinity }).length;
  }

  async listContinuations(id: string, { limit = 100, after = '' }: ContinuationPage = {}): Promise<Job[]> {
    return [...this.jobs.links.childrenOf(id.toLowerCase())]
      .toSorted(compare)
      .filter((child) => child > after)
      .flatMap((child) => this.jobs.find(child) ?? [])
      .slice(0, limit)
      .map(toJob);
  }

  async findBatch(id: string): Promise<Batch | null> {
    const batch = this.jobs.batches.find(id);
    return batch === undefined ? null : { ...batch };
  }

  async listOrphans(): Promise<Orphan[]> {
    const waiting = new Map<string, { queue: string; name: string; jobs: number }>();
    for (const { state, queue, name } of this.jobs.all()) {
      if (state !== 'enqueued' && state !== 'scheduled') continue;
      const key = JSON.stringify([queue, name]);
      const group = waiting.get(key) ?? { queue, name, jobs: 0 };
      waiting.set(key, group);
      group.jobs++;
    }
    return orphansAmong([...waiting.values()], this.servers.list());
  }

  async findLease({ id }: Pick<Job, 'id'>): Promise<Lease | null> {
    const record = this.jobs.find(id);
    return record === undefined ? null : leaseOn(record);
  }

  async listStalledLeases({ expiredForMs, limit }: StalledLeaseQuery): Promise<Lease[]> {
    const before = this.clock.now() - expiredForMs;
    return this.#matching({ state: ['processing'] })
      .flatMap((record) => leaseOn(record) ?? [])
      .filter(({ serverId, expiresAt }) => expiresAt.getTime() < before && this.servers.isAlive(serverId))
      .toSorted((one, other) => one.expiresAt.getTime() - other.expiresAt.getTime())
      .slice(0, limit);
  }

  async listBatches(query: BatchListQuery): Promise<Batch[]> {
    return this.jobs.batches.list(query);
  }

  async countBatches(): Promise<JobCount> {
    return { count: this.jobs.batches.size, exact: true };
  }

  async findQueue(name: string): Promise<Queue | null> {
    const queue = this.jobs.queues.get(name);
    if (queue === undefined) return null;
    return toQueue(name, queue, countStates(this.#matching({ queue: [name] })), this.#running());
  }

  async listQueues(): Promise<Queue[]> {
    const counts = new Map<string, StateCounts>();
    for (const name of this.jobs.queues.keys()) counts.set(name, countStates([]));
    for (const { queue, state } of this.jobs.all()) {
      const counted = counts.get(queue);
      if (counted !== undefined) counted[state]++;
    }
    const running = this.#running();
    return [...this.jobs.queues]
      .toSorted(([left], [right]) => compare(left, right))
      .map(([name, queue]) => toQueue(name, queue, counts.get(name) ?? countStates([]), running));
  }

  async listServers(): Promise<Server[]> {
    return this.servers.list();
  }

  async listLostServers(): Promise<LostServer[]> {
    return this.servers.lost();
  }

  async readClock(): Promise<Date> {
    return new Date(this.clock.now());
  }

  async ping(): Promise<void> {}

  #running(): Server[] {
    return this.servers.list().filter(({ state }) => state === 'running');
  }

  #matching(filter: JobFilter): JobRecord[] {
    return [...this.jobs.all()].filter(matcherOf(filter));
  }
}

function toQueue(name: string, queue: QueueRecord, counts: StateCounts, running: readonly Server[]): Queue {
  const { createdAt, pausedAt, line, concurrencyLimit, rateLimit } = queue;
  const oldest = line.oldestReadyAt;
  return {
    name,
    counts,
    pausedAt,
    concurrencyLimit,
    rateLimit: rateLimit === null ? null : { ...rateLimit },
    oldestEnqueuedAt: oldest === undefined ? null : new Date(oldest),
    servers: running.filter(({ queues }) => queues.includes(name)).length,
    createdAt,
  };
}

function leaseOn({ state, id, queue, serverId, attempt, leaseUntil }: JobRecord): Lease | null {
  if (state !== 'processing' || serverId === null) return null;
  return { jobId: id, queue, serverId, attempt, expiresAt: new Date(leaseUntil), locked: false };
}

function compare(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

function countStates(records: Iterable<JobRecord>): StateCounts {
  const counts = Object.fromEntries(jobStates.map((state) => [state, 0])) as StateCounts;
  for (const { state } of records) counts[state]++;
  return counts;
}
