import type { JobState } from './state.js';

/**
 * What happens when a job is enqueued with a key that another job holds:
 *
 * - `keep`: the new job is not created; the result contains the id of the other job
 * - `replace`: like `keep`. If the other job is neither running nor finished, it also receives the new job's arguments,
 *   priority, time, maximum number of attempts, tags, time limit, concurrency key and trace
 * - `reject`: the call throws a {@link DuplicateJobError}
 */
export type ConflictPolicy = 'keep' | 'replace' | 'reject';

/**
 * A key that a job holds within its queue. While the job holds the key, no other job with the same key can be created
 * in that queue.
 */
export interface JobKey {
  /** Separates keys with different purposes: the job's name for unique keys, `''` for idempotency keys. */
  readonly namespace: string;
  readonly key: string;
  /** The states in which the job holds the key. With `null`, it holds the key in any state, and even once deleted. */
  readonly states: readonly JobState[] | null;
  /** How long the job can hold the key after its creation, in milliseconds; `null` if there is no limit. */
  readonly periodMs: number | null;
  readonly onConflict: ConflictPolicy;
  /**
   * Identifies the content of the request. A later request with the same key but a different fingerprint is rejected.
   * `null` if requests are not compared.
   */
  readonly fingerprint: string | null;
}
