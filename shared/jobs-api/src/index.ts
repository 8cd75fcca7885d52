/**
 * Jobs, queues and servers as resources of an HTTP API.
 *
 * @module @longshore/jobs-api
 */
import {
  DuplicateJobError,
  IdempotencyConflictError,
  type JobClient,
  type JobDefinition,
  type JobEvents,
  type JobStorage,
  ReadTimeoutError,
  StorageUnavailableError,
} from '@longshore/jobs';
import { checkOptions, checkStorage, KeyHolderHiddenError, type OptionNames } from '@longshore/jobs/storage';
import { type ApiError, apiError, type Resource } from '@longshore/resources';
import { auditEntriesResource } from './audit-entries-resource.js';
import { batchesResource } from './batches-resource.js';
import { bulkOperationsResource } from './bulk-operations-resource.js';
import { deploymentsResource } from './deployments-resource.js';
import { EnqueueRequests } from './enqueue-requests.js';
import { eventsResource } from './events-resource.js';
import { JobEditor } from './job-editor.js';
import { JobEnqueuer } from './job-enqueuer.js';
import { jobDefinitionsResource, jobTypesResource } from './job-types-resource.js';
import { jobsResource } from './jobs-resource.js';
import { queuesResource } from './queues-resource.js';
import { Backlog, CallerQuotas, type Quotas } from './quotas.js';
import { recurringJobsResource } from './recurring-jobs-resource.js';
import { serversResource } from './servers-resource.js';
import { incidentsResource } from './incidents-resource.js';
import { installationsResource } from './installations-resource.js';
import { setAsideItemsResource } from './set-aside-items-resource.js';
import { statisticsResource } from './statistics-resource.js';

export type { Quotas } from './quotas.js';
export { checkOf, perform } from './operations.js';

export interface JobsApiOptions {
  readonly storage: Pick<
    JobStorage,
    | 'jobs'
    | 'steps'
    | 'control'
    | 'reports'
    | 'queues'
    | 'servers'
    | 'batches'
    | 'bulk'
    | 'recurring'
    | 'enqueuer'
    | 'feed'
    | 'clock'
    | 'setAside'
    | 'incidents'
    | 'installation'
    | 'timings'
    | 'jobTypes'
    | 'deployments'
    | 'savedSearches'
    | 'audit'
    | 'quotas'
  >;
  readonly client: JobClient;
  /**
   * Provides the events of `storage`. Close it before the HTTP listener, so that requests waiting for events get a
   * response.
   */
  readonly events: JobEvents;
  /** The definitions of the jobs that may be enqueued. */
  readonly definitions: readonly JobDefinition[];
  /** Whether to accept jobs that `definitions` does not contain, with any arguments; `false` by default. */
  readonly acceptUnknownJobs?: boolean;
  /**
   * Maximum backlog of a queue, which is its ready and blocked jobs; further jobs sent over HTTP are rejected with 429. Unlimited by default.
   */
  readonly maxBacklog?: number;
  /**
   * Maximum number of scheduled and awaiting jobs in a queue, as for `maxBacklog`. Unlimited by default.
   */
  readonly maxWaiting?: number;
  /** Quotas for what callers create, by caller and in all. */
  readonly quotas?: Quotas;
  /** Whether calls that pause or delete something must give a reason; `false` by default. */
  readonly requiresReasons?: boolean;
}

const apiOptions: OptionNames<JobsApiOptions> = {
  storage: true,
  client: true,
  events: true,
  definitions: true,
  acceptUnknownJobs: true,
  maxBacklog: true,
  maxWaiting: true,
  quotas: true,
  requiresReasons: true,
};

/**
 * Returns the resources of the job platform: jobs, events, queues, servers, recurring jobs, batches, job definitions,
 * set-aside items, incidents, statistics, job types, deployments and the installation.
 *
 * @throws {TypeError} if an option is unknown, or `storage` is not a storage
 */
export function jobsApi(options: JobsApiOptions): Resource[] {
  checkOptions('jobsApi', options, apiOptions);
  checkStorage('jobsApi', options.storage, ['jobs', 'control', 'queues']);
  const { storage, client, events, definitions } = options;
  const { acceptUnknownJobs = false, maxBacklog = Infinity, maxWaiting = Infinity } = options;
  const { requiresReasons = false } = options;
  const requests = new EnqueueRequests(definitions, acceptUnknownJobs);
  const quotas = new CallerQuotas(storage, options.quotas);
  const backlog = new Backlog(storage, { ready: maxBacklog, waiting: maxWaiting });
  const enqueuer = new JobEnqueuer(client, storage, requests, backlog, quotas);
  const bulkOperations = bulkOperationsResource(storage, requiresReasons);
  const jobs = jobsResource({
    storage,
    enqueuer,
    editor: new JobEditor(storage, requests, { quotas, backlog }),
    events,
    requiresReason: requiresReasons,
    bulkOperations,
  });
  return [
    jobs,
    eventsResource(events),
    queuesResource({ storage, jobs, quotas }, requiresReasons),
    serversResource(storage, jobs, requiresReasons),
    recurringJobsResource({ storage, requests, jobs, backlog, quotas }, requiresReasons),
    batchesResource(storage, enqueuer, jobs, requiresReasons),
    jobDefinitionsResource(definitions),
    setAsideItemsResource(storage, requiresReasons),
    incidentsResource(storage, requiresReasons),
    installationsResource(storage, requiresReasons),
    statisticsResource(storage),
    jobTypesResource(storage, definitions, requiresReasons),
    deploymentsResource(storage, quotas, requiresReasons),
    bulkOperations,
    auditEntriesResource(storage),
  ];
}

const conflicts = [DuplicateJobError, IdempotencyConflictError, KeyHolderHiddenError];

/** Converts an error of the job storage or its client to an API error; returns `undefined` for an unexpected error. */
export function classifyStorageError(error: unknown): ApiError | undefined {
  if (conflicts.some((conflict) => error instanceof conflict) && error instanceof Error)
    return apiError(40901, error.message);
  if (error instanceof ReadTimeoutError) return apiError(50304, error.summary, { 'retry-after': '2' });
  if (!(error instanceof StorageUnavailableError)) return undefined;
  return apiError(50301, error.summary, { 'retry-after': '2' });
}
