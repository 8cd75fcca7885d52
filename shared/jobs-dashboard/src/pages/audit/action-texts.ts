/** The texts for each action and its target, by the action path in the audit entry. */
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
  // Bulk actions run in the background and can be stopped, so only their start is known. Their pages show what they
  // have changed.
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

/** Returns the past tense of an action, without its target: `Retried`. */
export function actionDone(action: string): string {
  return actionTexts[action]?.[0] ?? action;
}
