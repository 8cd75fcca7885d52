import type { BulkAction } from '@longshore/jobs/storage';

/** The texts of a bulk action. */
export interface BulkWords {
  /** The title of its pages. */
  readonly title: string;
  /** Shown while the action is running. */
  readonly doing: string;
  /** On the buttons of a list. */
  readonly verb: string;
  /** On the button of its confirmation: `Retry 43 jobs`. */
  readonly of: (jobs: string) => string;
  /** The participle: `retried`. */
  readonly done: string;
  /** What it does to the jobs. */
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
      'Waiting jobs never run. Running ones are asked to stop; if a handler completes anyway, its job counts as done.',
  },
  retry: {
    title: 'Bulk retry',
    doing: 'Retrying',
    verb: 'Retry',
    of: (jobs) => `Retry ${jobs}`,
    done: 'retried',
    effect:
      'They go back to their queues, with one more attempt if none is left. Work that had been started is repeated.',
  },
  run: {
    title: 'Bulk run',
    doing: 'Making ready',
    verb: 'Run now',
    of: (jobs) => `Run ${jobs} now`,
    done: 'made ready',
    effect: 'They become ready at once, without waiting for their time or for other jobs.',
  },
  delete: {
    title: 'Bulk delete',
    doing: 'Deleting',
    verb: 'Delete',
    of: (jobs) => `Delete ${jobs}`,
    done: 'deleted',
    effect: 'They are permanently deleted, with their attempts and results.',
  },
};

export function isBulkAction(text: string): text is BulkAction {
  return Object.hasOwn(bulkWords, text);
}
