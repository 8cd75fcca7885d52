import type { JobState } from './state.js';

/**
 * What happens to a job whose key another job holds:
 *
 * - `keep`: it is not created; the result names the holder
 * - `replace`: as `keep`, but the holder takes over the new job's arguments, priority, time, attempts and tags,
 *   unless the holder is running or finished
 * - `reject`: the call throws a {@link DuplicateJobError}
 */
export type ConflictPolicy = 'keep' | 'replace' | 'reject';

/** A key that a job holds within its queue. While it does, no other job is created with the same key. */
export interface JobKey {
  /** Separates keys with different purposes: a job's name, or `''` for idempotency keys. */
  readonly namespace: string;
  readonly key: string;
  /** The job states in which the key is held; `null` for all states, even after the job is deleted. */
  readonly states: readonly JobState[] | null;
  /** How long the key is held after the job's creation, in milliseconds; `null` for no limit. */
  readonly periodMs: number | null;
  readonly onConflict: ConflictPolicy;
  /**
   * Identifies the request that uses the key; using the key again with another fingerprint is an error. `null` if
   * requests are not compared.
   */
  readonly fingerprint: string | null;
}
