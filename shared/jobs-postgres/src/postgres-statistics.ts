import {
  emptyBuckets,
  type ErrorGroupQuery,
  type ErrorGroups,
  errorFingerprint,
  type Failure,
  groupFailures,
  type JobStatistics,
  type ThroughputBucket,
  type ThroughputQuery,
} from '@longshore/jobs';
import type { Database } from './database.js';
import type { PostgresReader } from './postgres-reader.js';
import {
  type FailureRow,
  selectFailed,
  selectNow,
  selectRetrying,
  selectThroughput,
} from './sql/statistics.js';

/** Failures of each kind of job, failed and waiting, that are looked at. */
const mostFailures = 2_000;

/** Figures over many jobs, from counters and from the newest failures. */
export class PostgresStatistics implements JobStatistics {
  readonly #database: Database;
  readonly #searches: Database;
  readonly #reader: PostgresReader;

  constructor(database: Database, searches: Database, reader: PostgresReader) {
    this.#database = database;
    this.#searches = searches;
    this.#reader = reader;
  }

  async listErrorGroups({ sinceMs, limit }: ErrorGroupQuery): Promise<ErrorGroups> {
    const values = [sinceMs, mostFailures + 1];
    const [failed, retrying] = await Promise.all([
      this.#searches.query<FailureRow>(selectFailed(sinceMs), values),
      this.#database.query<FailureRow>(selectRetrying, values),
    ]);
    const failures = [...failed.slice(0, mostFailures), ...retrying.slice(0, mostFailures)].map(toFailure);
    return {
      groups: groupFailures(failures, limit),
      exact: failed.length <= mostFailures && retrying.length <= mostFailures,
    };
  }

  async throughput(query: ThroughputQuery): Promise<ThroughputBucket[]> {
    const [clock] = await this.#database.query<{ now: Date }>(selectNow);
    const buckets = emptyBuckets(query, clock?.now.getTime() ?? Date.now());
    const [queueId] =
      query.queue === undefined ? [0] : ((await this.#reader.queueIds({ queue: [query.queue] })) ?? []);
    if (queueId === undefined) return [...buckets.values()];
    const [first = 0] = buckets.keys();
    const rows = await this.#database.query<{ at: string; done: string; failed: string }>(selectThroughput, [
      queueId,
      first,
      query.bucketMs,
    ]);
    for (const { at, done, failed } of rows) {
      const bucket = buckets.get(Number(at));
      if (bucket !== undefined) Object.assign(bucket, { done: Number(done), failed: Number(failed) });
    }
    return [...buckets.values()];
  }
}

function toFailure({ id: jobId, name, error_name: errorName, message, at, retryable }: FailureRow): Failure {
  const fingerprint = errorFingerprint({ name: errorName, message });
  return { jobId, name, fingerprint, message, at, retryable };
}
