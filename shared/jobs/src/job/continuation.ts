import type { JobError } from './job-error.js';
import type { FinishedState } from './state.js';

/** Which end of a parent lets a job that waits for it run: `onAny` takes each. */
export const continuationConditions = ['onDone', 'onFailed', 'onAny'] as const;

export type ContinuationCondition = (typeof continuationConditions)[number];

/** What a job waits for. With several parents, each of them must come to the wanted end. */
export interface After {
  /** Ids of jobs or batches. */
  readonly parents: readonly string[];
  readonly when: ContinuationCondition;
}

/** How a parent ended. `gone`: nobody knows any more, it has been deleted. A batch ends as its worst job did. */
export type ParentEnd = FinishedState | 'gone';

const wanted: Record<ContinuationCondition, readonly ParentEnd[]> = {
  onDone: ['done'],
  onFailed: ['failed'],
  onAny: ['done', 'failed', 'cancelled', 'gone'],
};

/** Whether a parent that ended so lets the job that waits for it run. */
export function isMet(condition: ContinuationCondition, end: ParentEnd): boolean {
  return wanted[condition].includes(end);
}

const said: Record<ParentEnd, string> = {
  done: 'is done',
  failed: 'failed',
  cancelled: 'was cancelled',
  gone: 'was deleted, and how it ended is not known any more',
};

/** Why a job is cancelled that waited for another end of its parent. */
export function brokenCondition(
  parentId: string,
  condition: ContinuationCondition,
  end: ParentEnd,
): JobError {
  const clause = condition === 'onDone' ? 'done' : 'failed';
  return {
    name: 'ContinuationCancelled',
    message: `${parentId} ${said[end]}, and this job was to run only when it is ${clause} (${condition})`,
    stack: null,
  };
}
