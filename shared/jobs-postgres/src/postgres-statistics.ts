import {
  emptyBuckets,
  emptyBucketsByQueue,
  type ErrorGroupQuery,
  type ErrorGroups,
  errorFingerprint,
  type Failure,
  groupFailures,
  type JobStatistics,
  type QueuesThroughputQuery,
  type ThroughputBucket,
  type ThroughputQuery,
} from '@longshore/jobs';
import type { Database } from './database.js';
import type { QueueDirectory } from './queue-directory.js';
import {
  type FailureRow,
  selectFailed,
  selectNow,
  selectRetrying,
  selectThroughput,
  selectThroughputByQueue,
} from './sql/statistics.js';

/** Failures of each kind of job, failed and waiting, that are looked at. */
const mostFailures = 2_000;

/** Figures over many jobs, from counters and from the newest failures. */
export class PostgresStatistics implements JobStatistics {
  readonly #database: Database;
  readonly #searches: Database;
  readonly #queues: QueueDirectory;

  constructor(database: Database, searches: Database, queues: QueueDirectory) {
    this.#database = database;
    this.#searches = searches;
    this.#queues = queues;
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
    const buckets = emptyBuckets(query, await this.#now());
    const [queueId] = query.queue === undefined ? [0] : await this.#queues.idsOf([query.queue]);
    if (queueId === undefined) return [...buckets.values()];
    const [first = 0] = buckets.keys();
    const rows = await this.#database.query<EndedRow>(selectThroughput, [queueId, first, query.bucketMs]);
    for (const row of rows) fill(buckets, row);
    return [...buckets.values()];
  }

  async throughputByQueue(query: QueuesThroughputQuery): Promise<ReadonlyMap<string, ThroughputBucket[]>> {
    const { sinceAt, byQueue } = emptyBucketsByQueue(query, await this.#now());
    const queueIds = await this.#queues.idsOf([...byQueue.keys()]);
    const rows = await this.#database.query<EndedRow & { queue_id: number }>(selectThroughputByQueue, [
      queueIds,
      sinceAt,
      query.bucketMs,
    ]);
    for (const row of rows) fill(byQueue.get(await this.#queues.nameOf(row.queue_id)), row);
    return new Map(Array.from(byQueue, ([queue, buckets]) => [queue, [...buckets.values()]]));
  }

  /** By the database's clock, which tells when jobs ended. */
  async #now(): Promise<number> {
    const [clock] = await this.#database.query<{ now: Date }>(selectNow);
    return clock?.now.getTime() ?? Date.now();
  }
}

interface EndedRow {
  at: string;
  done: string;
  failed: string;
}

function fill(
  buckets: ReadonlyMap<number, ThroughputBucket> | undefined,
  { at, done, failed }: EndedRow,
): void {
  const bucket = buckets?.get(Number(at));
  if (bucket !== undefined) Object.assign(bucket, { done: Number(done), failed: Number(failed) });
}

function toFailure({ id: jobId, name, error_name: errorName, message, at, retryable }: FailureRow): Failure {
  const fingerprint = errorFingerprint({ name: errorName, message });
  return { jobId, name, fingerprint, message, at, retryable };
}
