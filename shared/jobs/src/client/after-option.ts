import { bounds } from '../job/bounds.js';
import { type After, type ContinuationCondition, continuationConditions } from '../job/continuation.js';
import { isId } from '../job/id.js';
import type { NewJob } from '../job/job.js';
import { checkOptions, type OptionNames } from '../job/options.js';
import { shown } from '../job/shown.js';

/** The dependencies of a job. */
export interface AfterOption {
  /**
   * 1 to 1,000 parents. A string is the id of an existing job or batch. A number is the zero-based index of an earlier
   * job in the same call, so dependencies cannot form a cycle.
   */
  readonly parents: readonly (string | number)[];
  /** How each parent must end; `onDone` by default. If a parent ends differently, the job is cancelled. */
  readonly when?: ContinuationCondition;
}

const afterOptions: OptionNames<AfterOption> = { parents: true, when: true };

/**
 * Checks the dependencies of a job, replaces indexes with ids, and removes duplicate parents.
 *
 * @param earlier the jobs before this one in the same call
 * @throws {TypeError} if an option is unknown or of the wrong kind
 * @throws {RangeError} if a parent, the number of parents or the condition is invalid
 */
export function checkAfter(after: AfterOption, earlier: readonly NewJob[]): After {
  checkOptions('enqueue: after', after, afterOptions);
  const { parents, when = 'onDone' } = after;
  if (!Array.isArray(parents))
    throw new TypeError(`after.parents must be a list of ids, not ${shown(parents)}`);
  if (parents.length < bounds.parents.min || parents.length > bounds.parents.max) {
    throw new RangeError(`after.parents must have 1 to 1000 entries, not ${parents.length}`);
  }
  checkCondition(when);
  return { parents: [...new Set(parents.map((parent: string | number) => parentId(parent, earlier)))], when };
}

function parentId(parent: string | number, earlier: readonly NewJob[]): string {
  if (typeof parent === 'number') {
    const job = earlier[parent];
    if (job !== undefined) return job.id;
    throw new RangeError(
      `after.parents: ${parent} is not the index of an earlier job in the call; this job has index ${earlier.length}`,
    );
  }
  if (isId(parent)) return parent.toLowerCase();
  throw new RangeError(`after.parents: ${shown(parent)} is not the id of a job or batch`);
}

/** @throws {RangeError} if the condition is unknown */
export function checkCondition(when: ContinuationCondition): void {
  if (!continuationConditions.includes(when)) {
    throw new RangeError(
      `after.when must be one of ${continuationConditions.join(', ')}, not ${shown(when)}`,
    );
  }
}
