import type { BulkAction } from '@longshore/jobs/storage';

/** How an action on many jobs is told. */
export interface BulkWords {
  /** Above its pages. */
  readonly title: string;
  /** While it goes on. */
  readonly doing: string;
  /** On its button. */
  readonly verb: string;
  /** On its button: `Retry 43 jobs`. */
  readonly of: (jobs: string) => string;
  /** Of a job that it was done to. */
  readonly done: string;
  /** What it means for the jobs that it finds. */
  readonly effect: string;
}

export const bulkWords: Readonly<Record<BulkAction, BulkWords>> = {
  cancel: {
    title: 'Bulk cancel',
    doing: 'Cancelling',
    verb: 'Cancel',
    of: (jobs) => `Cancel ${jobs}`,
    done: 'cancelled',
    effect:
      'Those that wait never run. Those that run are told to stop; one whose handler finishes its work all the same is done.',
  },
  retry: {
    title: 'Bulk retry',
    doing: 'Retrying',
    verb: 'Retry',
    of: (jobs) => `Retry ${jobs}`,
    done: 'retried',
    effect:
      'They go back to their queues, with one more attempt where none is left. Work that had begun is done again.',
  },
  run: {
    title: 'Bulk run',
    doing: 'Making ready',
    verb: 'Run now',
    of: (jobs) => `Run ${jobs} now`,
    done: 'made ready',
    effect: 'They become ready at once and no longer wait for their time, or for other jobs.',
  },
  delete: {
    title: 'Bulk delete',
    doing: 'Deleting',
    verb: 'Delete',
    of: (jobs) => `Delete ${jobs}`,
    done: 'deleted',
    effect: 'They are gone for good, with their attempts and results.',
  },
};

export function isBulkAction(text: string): text is BulkAction {
  return Object.hasOwn(bulkWords, text);
}
