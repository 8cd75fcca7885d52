import type { FinishedState } from '../job/state.js';
import {
  emptyBuckets,
  emptyBucketsByQueue,
  type QueuesThroughputQuery,
  throughputKept,
  type ThroughputBucket,
  type ThroughputQuery,
} from '../storage/job-statistics.js';

/** Key of the totals for all queues. */
const all = null;

/** Counts done and failed jobs in time buckets. Deletes old buckets. */
export class MemoryThroughput {
  readonly #counts = new Map<string | null, Map<number, ThroughputBucket>>();

  note(queue: string, state: FinishedState, nowMs: number): void {
    if (state === 'cancelled') return;
    this.#bucket(all, throughputKept.all, nowMs)[state]++;
    this.#bucket(queue, throughputKept.queue, nowMs)[state]++;
  }

  read(query: ThroughputQuery, nowMs: number): ThroughputBucket[] {
    return this.#fill(emptyBuckets(query, nowMs), query.queue ?? all, query.bucketMs);
  }

  readByQueue(query: QueuesThroughputQuery, nowMs: number): Map<string, ThroughputBucket[]> {
    const { sinceAt, byQueue } = emptyBucketsByQueue(query, nowMs);
    return new Map(
      Array.from(byQueue, ([queue, buckets]) => [queue, this.#fill(buckets, queue, query.bucketMs, sinceAt)]),
    );
  }

  #fill(
    buckets: ReadonlyMap<number, ThroughputBucket>,
    queue: string | null,
    bucketMs: number,
    sinceAt = 0,
  ): ThroughputBucket[] {
    for (const [at, { done, failed }] of this.#counts.get(queue) ?? []) {
      const bucket = buckets.get(Math.floor(at / bucketMs) * bucketMs);
      if (bucket === undefined || at < sinceAt) continue;
      bucket.done += done;
      bucket.failed += failed;
    }
    return [...buckets.values()];
  }

  #bucket(
    queue: string | null,
    { bucketMs, forMs }: { readonly bucketMs: number; readonly forMs: number },
    nowMs: number,
  ): ThroughputBucket {
    let buckets = this.#counts.get(queue);
    if (buckets === undefined) this.#counts.set(queue, (buckets = new Map<number, ThroughputBucket>()));
    const at = Math.floor(nowMs / bucketMs) * bucketMs;
    let bucket = buckets.get(at);
    if (bucket === undefined) {
      buckets.set(at, (bucket = { at: new Date(at), done: 0, failed: 0 }));
      // Buckets are in chronological order, so the loop can stop at the first one to keep.
      for (const old of buckets.keys()) {
        if (old >= nowMs - forMs - bucketMs) break;
        buckets.delete(old);
      }
    }
    return bucket;
  }
}
