import type { AuditLog, BulkOperations, JobReader, RecurringJobs } from '@longshore/jobs';

/** What the pages read, of all that a storage can tell. */
export interface DashboardReader extends JobReader {
  readonly recurring: Pick<RecurringJobs, 'find' | 'list'>;
  readonly bulk: Pick<BulkOperations, 'find' | 'list'>;
  readonly audit: Pick<AuditLog, 'list'>;
}
