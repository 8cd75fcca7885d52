import type { JobState } from './state.js';

/**
 * What becomes of a job whose key another job holds:
 *
 * - `keep`: it is not created; the answer names the holder
 * - `replace`: as `keep`, and unless the holder runs or has finished, its arguments, priority, time, attempts and tags
 *   become those of the new one
 * - `reject`: a {@link DuplicateJobError}
 */
export type ConflictPolicy = 'keep' | 'replace' | 'reject';

/** A key of its queue that a job is to hold. While it does, no other job is created with it. */
export interface JobKey {
  /** Keys of different scopes have nothing to do with one another: a job's name, or `''` for idempotency keys. */
  readonly scope: string;
  readonly key: string;
  /** In which states of the job it is held; `null` for whatever becomes of it. */
  readonly states: readonly JobState[] | null;
  /** For how many milliseconds from the job's creation it is held; `null` for no end. */
  readonly periodMs: number | null;
  readonly onConflict: ConflictPolicy;
  /** Says what was asked for: the key must not come again with another one. */
  readonly fingerprint: string | null;
}
