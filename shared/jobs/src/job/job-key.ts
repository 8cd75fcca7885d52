import type { JobState } from './state.js';

/**
 * What happens when a job is enqueued with a key that another job holds:
 *
 * - `keep`: the new job is not created; the result contains the id of the job that holds the key
 * - `replace`: as `keep`, but if the holder is not running or finished, it also receives the new job's arguments,
 *   priority, time, maximum number of attempts, tags, time limit, concurrency key and trace
 * - `reject`: the call throws a {@link DuplicateJobError}
 */
export type ConflictPolicy = 'keep' | 'replace' | 'reject';

/** A key that a job holds within its queue. While a job holds a key, no other job can be created with that key. */
export interface JobKey {
  /** Separates keys with different purposes: a job's name, or `''` for idempotency keys. */
  readonly namespace: string;
  readonly key: string;
  /** The job states in which the key is held; `null` for all states, even after the job is deleted. */
  readonly states: readonly JobState[] | null;
  /** How long after its creation the job can hold the key, in milliseconds; `null` for no limit. */
  readonly periodMs: number | null;
  readonly onConflict: ConflictPolicy;
  /**
   * Identifies the request that used the key. A request that uses the same key with a different fingerprint is
   * rejected. `null` if requests are not compared.
   */
  readonly fingerprint: string | null;
}
