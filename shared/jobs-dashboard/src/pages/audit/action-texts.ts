/** The texts for each action and its target, by the action path in the audit entry. */
export const actionTexts: Readonly<Record<string, readonly [done: string, thing: string]>> = {
  'jobs/cancel': ['Cancelled', 'job'],
  'jobs/retry': ['Retried', 'job'],
  'jobs/run-anyway': ['Ran regardless of dependencies', 'job'],
  'jobs/run': ['Made ready', 'job'],
  'jobs/reschedule': ['Rescheduled', 'job'],
  'jobs/delete': ['Deleted', 'job'],
  'queues/pause': ['Paused', 'queue'],
  'queues/resume': ['Resumed', 'queue'],
  'queues/limit': ['Set limits of', 'queue'],
  'queues/delete': ['Deleted', 'queue'],
  'recurring/trigger': ['Triggered', 'recurring job'],
  'recurring/pause': ['Paused', 'recurring job'],
  'recurring/resume': ['Resumed', 'recurring job'],
  'bulk-cancel': ['Cancelled', 'jobs'],
  'bulk-retry': ['Retried', 'jobs'],
  'bulk-run': ['Made ready', 'jobs'],
  'bulk-delete': ['Deleted', 'jobs'],
  'bulk/stop': ['Stopped', 'bulk action'],
  'servers/quiet': ['Quieted', 'server'],
  'servers/stop': ['Stopped', 'server'],
  'batches/cancel': ['Cancelled', 'batch'],
  'set-aside/retry': ['Retried', 'set-aside item'],
  'set-aside/discard': ['Discarded', 'set-aside item'],
};

/** Returns the past tense of an action, without its target: `Retried`. */
export function actionDone(action: string): string {
  return actionTexts[action]?.[0] ?? action;
}
