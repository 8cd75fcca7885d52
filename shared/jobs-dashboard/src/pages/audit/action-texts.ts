/** Maps each action in the audit to its past tense and the kind of its target. */
export const actionTexts: Readonly<Record<string, readonly [done: string, thing: string]>> = {
  'jobs/cancel': ['Cancelled', 'job'],
  'jobs/retry': ['Retried', 'job'],
  'jobs/run-anyway': ['Force-started', 'job'],
  'jobs/run': ['Started', 'job'],
  'jobs/reschedule': ['Rescheduled', 'job'],
  'jobs/delete': ['Started deleting', 'job'],
  'queues/pause': ['Paused', 'queue'],
  'queues/resume': ['Resumed', 'queue'],
  'queues/limit': ['Set limits of', 'queue'],
  'queues/delete': ['Deleted', 'queue'],
  'queues/purge': ['Cancelled waiting jobs of', 'queue'],
  'types/pause': ['Paused', 'job type'],
  'types/resume': ['Resumed', 'job type'],
  'recurring/trigger': ['Triggered', 'recurring job'],
  'recurring/pause': ['Paused', 'recurring job'],
  'recurring/resume': ['Resumed', 'recurring job'],
  'recurring/delete': ['Deleted', 'recurring job'],
  // The audit entry of a bulk action says only that the action was started. The action runs in the background and can
  // be stopped. Its page shows what it has changed.
  'bulk-cancel': ['Started cancelling', 'jobs'],
  'bulk-retry': ['Started retrying', 'jobs'],
  'bulk-run': ['Started running', 'jobs'],
  'bulk-delete': ['Started deleting', 'jobs'],
  'bulk/stop': ['Stopped', 'bulk action'],
  'servers/quiet': ['Quieted', 'server'],
  'servers/stop': ['Stopped', 'server'],
  'searches/save': ['Saved', 'search'],
  'searches/delete': ['Deleted', 'search'],
  'batches/cancel': ['Cancelled', 'batch'],
  'set-aside/retry': ['Retried', 'set-aside item'],
  'set-aside/discard': ['Discarded', 'set-aside item'],
  'deployments/delete': ['Deleted', 'deployment'],
};

/** Returns the past tense of an action, such as `Retried`. Returns unknown actions unchanged. */
export function actionDone(action: string): string {
  return actionTexts[action]?.[0] ?? action;
}
