import type { BulkAction } from '@longshore/jobs/storage';

interface BulkWords {
  /** The title of the operation's page, such as `Bulk retry`. */
  readonly title: string;
  /** Shown while the action is running. */
  readonly doing: string;
  /** The label of the action's button in a list. */
  readonly verb: string;
  /** Returns the label of a link or button for the action, such as `Retry 43 jobs`. */
  readonly ofJobs: (jobs: string) => string;
  /** The label of the button that confirms the action, if the jobs were not counted exactly. */
  readonly confirmAll: string;
  /** The past participle, such as `retried`. */
  readonly done: string;
  /** What happens to the jobs, as text for the confirmation page. */
  readonly effect: string;
}

export const bulkWords: Readonly<Record<BulkAction, BulkWords>> = {
  cancel: {
    title: 'Bulk cancel',
    doing: 'Cancelling',
    verb: 'Cancel',
    confirmAll: 'Cancel all matching jobs',
    ofJobs: (jobs) => `Cancel ${jobs}`,
    done: 'cancelled',
    effect:
      'Waiting jobs never run. Running ones are asked to stop; if a handler completes anyway, its job counts as done.',
  },
  retry: {
    title: 'Bulk retry',
    doing: 'Retrying',
    verb: 'Retry',
    confirmAll: 'Retry all matching jobs',
    ofJobs: (jobs) => `Retry ${jobs}`,
    done: 'retried',
    effect:
      'They go back to their queues, with one more attempt if none is left. Work that had been started is repeated.',
  },
  run: {
    title: 'Bulk run',
    doing: 'Making ready',
    verb: 'Run now',
    confirmAll: 'Run all matching jobs now',
    ofJobs: (jobs) => `Run ${jobs} now`,
    done: 'made ready',
    effect: 'They become ready at once, without waiting for their time or for other jobs.',
  },
  reschedule: {
    title: 'Bulk reschedule',
    doing: 'Rescheduling',
    verb: 'Reschedule',
    confirmAll: 'Reschedule all matching jobs',
    ofJobs: (jobs) => `Reschedule ${jobs}`,
    done: 'rescheduled',
    effect: 'They become ready at the time that you enter, instead of their own.',
  },
  rename: {
    title: 'Bulk rename',
    doing: 'Renaming',
    verb: 'Rename',
    confirmAll: 'Rename all matching jobs',
    ofJobs: (jobs) => `Rename ${jobs}`,
    done: 'renamed',
    effect: 'They become jobs of the type that you enter, and its handler runs them with their arguments.',
  },
  delete: {
    title: 'Bulk delete',
    doing: 'Deleting',
    verb: 'Delete',
    confirmAll: 'Delete all matching jobs',
    ofJobs: (jobs) => `Delete ${jobs}`,
    done: 'deleted',
    effect:
      'Their attempts and results are deleted with them. You can undo this for two minutes; after that, the deletion is permanent.',
  },
};

export function isBulkAction(text: string): text is BulkAction {
  return Object.hasOwn(bulkWords, text);
}

/**
 * Returns whether the action destroys work. Unless the jobs are counted exactly, operators must type the name of a
 * destructive action to confirm it.
 */
export function isDestructive(action: BulkAction): boolean {
  return action === 'cancel' || action === 'delete';
}

/** Delay before a deletion starts, in milliseconds. Until then, operators can undo it. */
export const undoMs = 120_000;
