import type { Cache } from '../cache/cache.js';
import type { JobLinks, RunbookLinks } from '../format/job-links.js';
import type { JobStorage } from '@longshore/jobs';
import type {
  Alerts,
  AuditLog,
  Batches,
  BulkOperations,
  Deployments,
  Incidents,
  Installation,
  JobReader,
  JobReports,
  JobTypes,
  Queues,
  RecurringJobs,
  SavedSearches,
  Servers,
  SetAside,
  Steps,
  Timings,
  WarningRules,
} from '@longshore/jobs/storage';

/** The part of a storage that the dashboard's pages read. */
export interface DashboardReader extends Pick<
  JobStorage,
  'leases' | 'statistics' | 'clock' | 'readClock' | 'ping' | 'readReplica'
> {
  /**
   * Excludes the methods that list complete jobs. Brief jobs need little memory, however large the complete jobs are.
   */
  readonly jobs: Omit<JobReader, 'list' | 'listPage'>;
  readonly reports: Pick<JobReports, 'listLogs' | 'listLatestLogs' | 'countLogs' | 'listTransitions'>;
  readonly steps: Pick<Steps, 'read'>;
  readonly queues: Pick<Queues, 'find' | 'list' | 'listBlockingKeys'>;
  readonly servers: Pick<Servers, 'list' | 'listLost'>;
  readonly batches: Pick<Batches, 'find' | 'list' | 'count'>;
  readonly recurring: Pick<RecurringJobs, 'find' | 'findArgs' | 'list' | 'listMissed'>;
  readonly bulk: Pick<BulkOperations, 'find' | 'list' | 'listChanged' | 'preview'>;
  readonly audit: Pick<AuditLog, 'list'>;
  readonly savedSearches: Pick<SavedSearches, 'list'>;
  readonly setAside: Pick<SetAside, 'list'>;
  readonly timings: Pick<Timings, 'read' | 'readHistories' | 'listNames'>;
  readonly jobTypes: Pick<JobTypes, 'listPaused'>;
  readonly deployments: Pick<Deployments, 'list' | 'versionsOf'>;
  readonly incidents: Pick<Incidents, 'list' | 'find'>;
  readonly alerts: Pick<Alerts, 'listFailures'>;
  readonly installation: Pick<Installation, 'read'>;
  readonly warningRules: Pick<WarningRules, 'list'>;
}

/** What records incidents. */
export type IncidentRecorder = Pick<Incidents, 'reserveCheck' | 'observe'>;

/** What a dashboard needs of a storage: reading it, and recording what its warnings say. */
export type DashboardStorage = DashboardReader & { readonly incidents: IncidentRecorder };

/** What all readers of data share, independent of the request. */
export interface ReadingContext {
  readonly reader: DashboardReader;
  readonly cache: Cache;
  /** Returns the storage's time in milliseconds since 1970. All times on pages are relative to it. */
  readonly now: () => number;
  /** Returns the time of this machine's clock in milliseconds since 1970. */
  readonly machineNow: () => number;
  /** Time limit for loading each region of a page, in milliseconds. */
  readonly readTimeoutMs: number;
  /** Matches keys whose values are redacted. */
  readonly redact: RegExp;
  /** Builds links from jobs to other systems. */
  readonly links: JobLinks;
  /** Builds links from warnings to a runbook. */
  readonly runbook: RunbookLinks;
}
