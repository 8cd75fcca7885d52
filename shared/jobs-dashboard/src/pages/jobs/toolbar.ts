import { bulkActions, type JobCount, type JobState, jobStates, statesOfAction } from '@longshore/jobs';
import { formatCount } from '../../format/count.js';
import { confirmPath, type Filters } from '../../search/filters.js';
import { bulkWords } from '../bulk-words.js';

/** Something to do to all jobs that match. */
export interface Offer {
  /** `Retry all 43` */
  readonly words: string;
  /** Only an admin may do it. */
  readonly admin: boolean;
  /** Where it is confirmed. */
  readonly path: string;
}

/** What stands between the tabs and the list: how many jobs match, and what can be done to all of them. */
export interface JobsToolbar {
  readonly narrowed: boolean;
  /** `null` while it is counted. */
  readonly total: JobCount | null;
  readonly offers: readonly Offer[];
}

/** To every job of the storage, nothing is offered, nor is what no job that matches is known to be in a state for. */
export function jobsToolbar(
  filters: Filters,
  counts: Readonly<Record<JobState, JobCount>> | undefined,
): JobsToolbar {
  const { state, terms } = filters;
  const narrowed = state !== null || terms.length > 0;
  const shown = state === null ? jobStates : [state];
  const countIn = (states: readonly JobState[]): JobCount | null => {
    const fitting = states.filter((each) => shown.includes(each));
    return counts === undefined && fitting.length > 0
      ? null
      : sum(fitting.flatMap((each) => counts?.[each] ?? []));
  };
  const offers = bulkActions.flatMap((action) => {
    const count = countIn(statesOfAction[action]);
    if (count?.count === 0) return [];
    return {
      words: bulkWords[action].of(count === null ? 'all that match' : `all ${formatCount(count)}`),
      admin: action === 'delete',
      path: confirmPath(filters, action),
    };
  });
  return { narrowed, total: countIn(shown), offers: narrowed ? offers : [] };
}

export function sum(counts: readonly JobCount[]): JobCount {
  return {
    count: counts.reduce((total, { count }) => total + count, 0),
    exact: counts.every(({ exact }) => exact),
  };
}
