import type { JobState } from './state.js';

/**
 * What happens when a job is enqueued with a key that another job holds:
 *
 * - `keep`: the new job is not created; the result names the holder of the key
 * - `replace`: the new job is not created, and the holder takes over its arguments, priority, time, maximum number of
 *   attempts and tags, unless the holder is running or finished
 * - `reject`: the call throws a {@link DuplicateJobError}
 */
export type ConflictPolicy = 'keep' | 'replace' | 'reject';

/** A key that a job holds within its queue. While the job holds it, no other job is created with the same key. */
export interface JobKey {
  /** Separates keys with different purposes: a job's name, or `''` for idempotency keys. */
  readonly namespace: string;
  readonly key: string;
  /** The job states in which the key is held; `null` for all states, even after the job is deleted. */
  readonly states: readonly JobState[] | null;
  /** Maximum time for which the key is held after the job's creation, in milliseconds; `null` for no limit. */
  readonly periodMs: number | null;
  readonly onConflict: ConflictPolicy;
  /**
   * Identifies the request that uses the key; using the key again with another fingerprint is an error. `null` if
   * requests are not compared.
   */
  readonly fingerprint: string | null;
}
