import type {
  Batches,
  BulkOperations,
  JobControl,
  JobTypes,
  Queues,
  RecurringJobs,
  SavedSearches,
  Servers,
  SetAside,
} from '@longshore/jobs/storage';

/** The parts of the storage that the dashboard’s actions use. */
export interface DashboardControl {
  readonly control: Pick<JobControl, 'cancel' | 'retry' | 'run' | 'reschedule'>;
  readonly queues: Pick<Queues, 'pause' | 'resume' | 'limit' | 'delete'>;
  readonly batches: Pick<Batches, 'cancel'>;
  readonly servers: Pick<Servers, 'quiet' | 'stop'>;
  readonly recurring: Pick<RecurringJobs, 'trigger' | 'pause' | 'resume'>;
  readonly bulk: Pick<BulkOperations, 'start' | 'cancel'>;
  readonly jobTypes: Pick<JobTypes, 'pause' | 'resume'>;
  readonly savedSearches: Pick<SavedSearches, 'save' | 'delete'>;
  readonly setAside: Pick<SetAside, 'retry' | 'discard'>;
}
