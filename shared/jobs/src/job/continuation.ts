import type { JobError } from './job-error.js';
import type { FinishedState } from './state.js';

/**
 * How every parent must end for a dependent to run: `onDone` requires `done`, `onFailed` requires `failed`, and `onAny`
 * accepts any end.
 */
export const continuationConditions = ['onDone', 'onFailed', 'onAny'] as const;

export type ContinuationCondition = (typeof continuationConditions)[number];

/** A job's dependencies. Every parent must meet the condition. */
export interface After {
  /** Ids of jobs or batches. */
  readonly parents: readonly string[];
  readonly when: ContinuationCondition;
}

/**
 * How a parent ended; `gone` if the parent was deleted and its final state is unknown. A batch counts as failed if any
 * job failed. Otherwise, the batch counts as cancelled if any job was cancelled. Otherwise, the batch counts as done.
 */
export type ParentEnd = FinishedState | 'gone';

const acceptedEnds: Record<ContinuationCondition, readonly ParentEnd[]> = {
  onDone: ['done'],
  onFailed: ['failed'],
  onAny: ['done', 'failed', 'cancelled', 'gone'],
};

export function isMet(condition: ContinuationCondition, end: ParentEnd): boolean {
  return acceptedEnds[condition].includes(end);
}

const endings: Record<ParentEnd, string> = {
  done: 'is done',
  failed: 'failed',
  cancelled: 'was cancelled',
  gone: 'was deleted, so it is unknown how it ended',
};

/** Error name of a job that was skipped: it was cancelled because a parent did not end as required. */
export const skippedErrorName = 'ContinuationCancelled';

/** Returns the error to store with a skipped job. */
export function unmetConditionError(
  parentId: string,
  condition: ContinuationCondition,
  end: ParentEnd,
): JobError {
  const clause = condition === 'onDone' ? 'done' : 'failed';
  return {
    name: skippedErrorName,
    message: `Skipped: ${parentId} ${endings[end]}. It runs only if that is ${clause} (${condition})`,
    stack: null,
  };
}
