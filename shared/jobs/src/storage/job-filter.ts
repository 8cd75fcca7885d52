import type { JsonValue } from '../job/job.js';
import type { JobState } from '../job/state.js';
import { wordsOf } from './search-words.js';

/** One place in the arguments. */
export interface ArgsFilter {
  /** The way to it from the top: names of members, and numbers of elements from 0 on. */
  readonly path: readonly string[];
  /** It equals one of these as JSON: `1` is `1.0`, but not `"1"`. */
  readonly values: readonly JsonValue[];
}

/**
 * Which jobs: those that match every given member; within a member, any of its values. A member without values is as if it
 * were not given. An id that has not the form of one is no job's.
 */
export interface JobFilter {
  readonly id?: readonly string[];
  readonly state?: readonly JobState[];
  readonly queue?: readonly string[];
  readonly name?: readonly string[];
  readonly tag?: readonly string[];
  readonly recurringJobId?: readonly string[];
  readonly batchId?: readonly string[];
  /** Jobs that wait or waited for one of these jobs or batches. */
  readonly parentId?: readonly string[];
  /** Servers that run the job or ran it last. */
  readonly serverId?: readonly string[];
  /** At this time or later, by the clock of the enqueuer, which the id holds. */
  readonly createdAfter?: Date;
  /** Earlier than this, by the same clock. */
  readonly createdBefore?: Date;
  /** At this time or later; only finished jobs match. */
  readonly finishedAfter?: Date;
  /** Earlier than this; only finished jobs match. */
  readonly finishedBefore?: Date;
  /** Matches of every one of these. */
  readonly args?: readonly ArgsFilter[];
  /** The class and message of the latest error, `TypeError: No ship`, contain one of these; large and small letters are alike. */
  readonly error?: readonly string[];
  /** The latest error is of this kind: what `errorFingerprint` makes of it, to the letter. */
  readonly errorFingerprint?: readonly string[];
  /**
   * Words that all occur in the name, the queue, the tags, the recurring job, the idempotency key, the latest error or the
   * arguments as JSON, regardless of case. `search` also tolerates typos; everything else takes them literally. Lists and
   * counts may look only at the nearest jobs of each state.
   */
  readonly q?: string;
}

/** Whether a filter lets every job through: none of its members has a value. */
export function isUnrestricted({ args = [], q, ...members }: JobFilter): boolean {
  return (
    wordsOf(q).length === 0 &&
    args.every(({ values }) => values.length === 0) &&
    Object.values(members).every(
      (value: unknown) => value === undefined || (Array.isArray(value) && value.length === 0),
    )
  );
}
