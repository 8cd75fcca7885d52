import type { JobStorage } from '@longshore/jobs';
import type {
  Alerts,
  AuditLog,
  Batches,
  BulkOperations,
  Deployments,
  JobReader,
  JobReports,
  JobTypes,
  Queues,
  RecurringJobs,
  SavedSearches,
  Servers,
  SetAside,
  Timings,
} from '@longshore/jobs/storage';

/** The part of a storage that the dashboard's pages read. */
export interface DashboardReader extends Pick<
  JobStorage,
  'leases' | 'statistics' | 'clock' | 'readClock' | 'ping'
> {
  /**
   * Excludes the methods that list complete jobs. Brief jobs need little memory, however large the complete jobs are.
   */
  readonly jobs: Omit<JobReader, 'list' | 'listPage'>;
  readonly reports: Pick<JobReports, 'listLogs' | 'countLogs' | 'listTransitions'>;
  readonly queues: Pick<Queues, 'find' | 'list' | 'listBlockingKeys'>;
  readonly servers: Pick<Servers, 'list' | 'listLost'>;
  readonly batches: Pick<Batches, 'find' | 'list' | 'count'>;
  readonly recurring: Pick<RecurringJobs, 'find' | 'findArgs' | 'list' | 'listMissed'>;
  readonly bulk: Pick<BulkOperations, 'find' | 'list' | 'listChanged' | 'preview'>;
  readonly audit: Pick<AuditLog, 'list'>;
  readonly savedSearches: Pick<SavedSearches, 'list'>;
  readonly setAside: Pick<SetAside, 'list'>;
  readonly timings: Pick<Timings, 'read' | 'listNames'>;
  readonly jobTypes: Pick<JobTypes, 'listPaused'>;
  readonly deployments: Pick<Deployments, 'list'>;
  readonly alerts: Pick<Alerts, 'listFailures'>;
}
