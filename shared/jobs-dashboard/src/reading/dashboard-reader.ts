import type {
  AuditLog,
  BulkOperations,
  JobReader,
  JobStatistics,
  RecurringJobs,
  SetAside,
} from '@longshore/jobs';

/** What the pages read, of all that a storage can tell. */
export interface DashboardReader extends JobReader {
  readonly recurring: Pick<RecurringJobs, 'find' | 'findArgs' | 'list'>;
  readonly bulk: Pick<BulkOperations, 'find' | 'list'>;
  readonly statistics: JobStatistics;
  readonly audit: Pick<AuditLog, 'list'>;
  readonly setAside: Pick<SetAside, 'list'>;
}
