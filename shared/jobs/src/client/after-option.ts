import { bounds } from '../job/bounds.js';
import { type After, type ContinuationCondition, continuationConditions } from '../job/continuation.js';
import { isId } from '../job/id.js';
import type { NewJob } from '../job/job.js';

/** The dependencies of a job. */
export interface AfterOption {
  /**
   * 1 to 1 000 parents. A text is the id of a job or batch that exists. A number is the place, counted from 0, of a job in
   * the same call; it must come before this one, so that no circle can arise.
   */
  readonly parents: readonly (string | number)[];
  /** How each parent must end; `onDone` by default. If a parent ends otherwise, the job is cancelled. */
  readonly when?: ContinuationCondition;
}

/**
 * Resolves the parents of a job to their ids.
 *
 * @param earlier the jobs that come before this one in the same call
 * @throws {RangeError} if the parents or the condition are out of bounds
 */
export function checkAfter({ parents, when = 'onDone' }: AfterOption, earlier: readonly NewJob[]): After {
  if (parents.length < bounds.parents.least || parents.length > bounds.parents.most) {
    throw new RangeError(`A job waits for 1 to 1 000 parents, not ${parents.length}`);
  }
  checkCondition(when);
  return { parents: [...new Set(parents.map((parent) => parentId(parent, earlier)))], when };
}

function parentId(parent: string | number, earlier: readonly NewJob[]): string {
  if (typeof parent === 'number') {
    const job = earlier[parent];
    if (job !== undefined) return job.id;
    throw new RangeError(
      `after.parents: ${parent} is not the place of a job before this one, which is at ${earlier.length} in its call`,
    );
  }
  if (isId(parent)) return parent.toLowerCase();
  throw new RangeError(`after.parents: "${parent}" cannot be the id of a job or batch to wait for`);
}

/** @throws {RangeError} if it is none of the conditions */
export function checkCondition(when: ContinuationCondition): void {
  if (!continuationConditions.includes(when)) {
    throw new RangeError(`A job waits for ${continuationConditions.join(', ')}, not "${when as string}"`);
  }
}
