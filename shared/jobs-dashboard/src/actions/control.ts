import type {
  AuditLog,
  Batches,
  BulkOperations,
  JobControl,
  Queues,
  RecurringJobs,
  Servers,
} from '@longshore/jobs/storage';

/** What the dashboard’s forms can change in a storage. */
export interface DashboardControl {
  readonly control: Pick<JobControl, 'cancel' | 'retry' | 'run' | 'reschedule' | 'delete'>;
  readonly queues: Pick<Queues, 'pause' | 'resume' | 'limit' | 'delete'>;
  readonly batches: Pick<Batches, 'cancel'>;
  readonly servers: Pick<Servers, 'quiet' | 'stop'>;
  readonly recurring: Pick<RecurringJobs, 'trigger' | 'pause' | 'resume'>;
  readonly bulk: Pick<BulkOperations, 'start' | 'cancel'>;
  /** Records every action. */
  readonly audit: Pick<AuditLog, 'record' | 'amend'>;
}
