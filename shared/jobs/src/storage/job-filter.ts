import type { JsonValue } from '../job/job.js';
import type { JobState } from '../job/state.js';
import { wordsOf } from './search-words.js';

/** A condition on one value in the arguments. */
export interface ArgsFilter {
  /** The path from the root of the arguments: member names, and zero-based array indexes. */
  readonly path: readonly string[];
  /** The value must equal one of these as JSON: `1` equals `1.0`, but not `"1"`. */
  readonly values: readonly JsonValue[];
}

/**
 * Selects the jobs that match every given member. A job matches a member if it matches any of the member's values. An
 * empty member counts as absent. A malformed id matches no job.
 */
export interface JobFilter {
  readonly id?: readonly string[];
  readonly state?: readonly JobState[];
  readonly queue?: readonly string[];
  readonly name?: readonly string[];
  readonly tag?: readonly string[];
  readonly recurringJobId?: readonly string[];
  readonly batchId?: readonly string[];
  /** Jobs with one of these concurrency keys, in any queue. */
  readonly concurrencyKey?: readonly string[];
  /** Jobs that depend or depended on one of these jobs or batches. */
  readonly parentId?: readonly string[];
  /** Jobs that are running, or last ran, on one of these servers. */
  readonly serverId?: readonly string[];
  /** Created at or after this time, by the enqueuer's clock, which is encoded in the id. */
  readonly createdAfter?: Date;
  /** Created before this time, by the same clock. */
  readonly createdBefore?: Date;
  /** Finished at or after this time; only finished jobs match. */
  readonly finishedAfter?: Date;
  /** Finished before this time; only finished jobs match. */
  readonly finishedBefore?: Date;
  /** Conditions on the arguments, all of which must match. */
  readonly args?: readonly ArgsFilter[];
  /** Text that occurs in the class and message of the latest error, such as `TypeError: No ship`; case-insensitive. */
  readonly error?: readonly string[];
  /** The exact `errorFingerprint` of the latest error. */
  readonly errorFingerprint?: readonly string[];
  /**
   * Words that must all occur in the name, the queue, the tags, the recurring job's id, the idempotency key, the latest
   * error or the arguments as JSON, regardless of case. `search` also tolerates typos; all other methods take the words
   * literally. Lists and counts may examine only the first few thousand jobs of each state.
   */
  readonly q?: string;
}

/** Returns whether a filter matches every job because none of its members has a value. */
export function isUnrestricted({ args = [], q, ...members }: JobFilter): boolean {
  return (
    wordsOf(q).length === 0 &&
    args.every(({ values }) => values.length === 0) &&
    Object.values(members).every(
      (value: unknown) => value === undefined || (Array.isArray(value) && value.length === 0),
    )
  );
}
