import type { AuditLog, BulkOperations, JobStorage, RecurringJobs } from '@longshore/jobs';

/** What the dashboard’s forms do, of all that a storage can. */
export interface DashboardControl extends Pick<
  JobStorage,
  | 'cancelJob'
  | 'retryJob'
  | 'runJob'
  | 'rescheduleJob'
  | 'deleteJob'
  | 'pauseQueue'
  | 'resumeQueue'
  | 'limitQueue'
  | 'deleteQueue'
  | 'cancelBatch'
  | 'quietServer'
  | 'stopServer'
> {
  readonly recurring: Pick<RecurringJobs, 'trigger' | 'pause' | 'resume'>;
  readonly bulk: Pick<BulkOperations, 'start' | 'cancel'>;
  /** Where every action is noted down. */
  readonly audit: Pick<AuditLog, 'record' | 'amend'>;
}
