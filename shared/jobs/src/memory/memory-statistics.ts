import { errorFingerprint } from '../job/error-fingerprint.js';
import {
  type ErrorGroupQuery,
  type ErrorGroups,
  type Failure,
  failureBuckets,
  groupFailures,
  type JobStatistics,
  largestGroups,
  type QueuesThroughputQuery,
  type ThroughputBucket,
  type ThroughputQuery,
} from '../storage/job-statistics.js';
import type { Clock } from '../job/clock.js';
import type { JobRecord } from './job-record.js';
import type { MemoryJobs } from './memory-jobs.js';

/** Lists error groups by scanning all jobs. Reads throughput from counters that are updated as jobs end. */
export class MemoryStatistics implements JobStatistics {
  readonly #jobs: MemoryJobs;
  readonly #clock: Clock;

  constructor(jobs: MemoryJobs, clock: Clock) {
    this.#jobs = jobs;
    this.#clock = clock;
  }

  async listErrorGroups(query: ErrorGroupQuery): Promise<ErrorGroups> {
    const nowMs = this.#clock.now();
    const since = new Date(nowMs - query.sinceMs);
    const failures = [...this.#jobs.all()].flatMap((record) => failureOf(record) ?? []);
    const recent = groupFailures(
      failures.filter(({ at }) => at >= since),
      failureBuckets(query, nowMs),
    );
    const groups = recent.map((group) => ({
      ...group,
      firstSeenAt: this.#jobs.firstFailures.find(group) ?? group.firstSeenAt,
    }));
    return largestGroups(groups, query);
  }

  async throughput(query: ThroughputQuery): Promise<ThroughputBucket[]> {
    return this.#jobs.throughput.read(query, this.#clock.now());
  }

  async throughputByQueue(query: QueuesThroughputQuery): Promise<ReadonlyMap<string, ThroughputBucket[]>> {
    return this.#jobs.throughput.readByQueue(query, this.#clock.now());
  }
}

function failureOf(record: JobRecord): Failure | null {
  const { id: jobId, name, state, error } = record;
  const at = state === 'failed' ? record.finishedAt : record.pastAttempts.at(-1)?.finishedAt;
  if (error === null || at === null || at === undefined) return null;
  if (state !== 'failed' && state !== 'scheduled') return null;
  const { message } = error;
  return { jobId, name, fingerprint: errorFingerprint(error), message, at, retryable: state === 'failed' };
}
