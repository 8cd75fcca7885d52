import { bounds } from '../job/bounds.js';
import { type After, type ContinuationCondition, continuationConditions } from '../job/continuation.js';
import { isId } from '../job/id.js';
import type { NewJob } from '../job/job.js';

/** What a job is to wait for. */
export interface AfterOption {
  /** Ids of 1 to 1 000 jobs or batches, which must exist or stand before this one in the same call. */
  readonly parents: readonly string[];
  /** The end that each of the parents must come to; `onDone` by default. A job of which one comes to another is cancelled. */
  readonly when?: ContinuationCondition;
}

/** @throws {RangeError} if the parents or the condition are out of bounds */
export function checkAfter({ parents, when = 'onDone' }: AfterOption): After {
  if (parents.length < bounds.parents.least || parents.length > bounds.parents.most) {
    throw new RangeError(`A job waits for 1 to 1 000 parents, not ${parents.length}`);
  }
  const stranger = parents.find((parent) => !isId(parent));
  if (stranger !== undefined)
    throw new RangeError(`"${stranger}" cannot be the id of a job or batch to wait for`);
  checkCondition(when);
  return { parents: [...new Set(parents.map((parent) => parent.toLowerCase()))], when };
}

/** @throws {RangeError} if it is none of the conditions */
export function checkCondition(when: ContinuationCondition): void {
  if (!continuationConditions.includes(when)) {
    throw new RangeError(`A job waits for ${continuationConditions.join(', ')}, not "${when as string}"`);
  }
}

/**
 * Jobs of one call wait only for such as stand before them, so that no circle can arise.
 *
 * @throws {RangeError} if one waits for itself or for a later one, or if two have one id
 */
export function checkOrder(jobs: readonly NewJob[]): void {
  const places = new Map(jobs.map(({ id }, place) => [id, place]));
  if (places.size < jobs.length) throw new RangeError('Two jobs of one call have the same id');
  for (const [place, { id, after }] of jobs.entries()) {
    const late = after?.parents.find((parent) => (places.get(parent) ?? -1) >= place);
    if (late !== undefined)
      throw new RangeError(`Job ${id} waits for ${late}, which does not stand before it`);
  }
}
