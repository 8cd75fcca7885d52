import type {
  JobClient,
  JobControl,
  JobDefinition,
  JobReader,
  JobStorage,
  ServerControl,
} from '@longshore/jobs';
import type { Resource } from '@longshore/resources';
import { batchesResource } from './batches-resource.js';
import { jobDefinitionsResource } from './job-definitions-resource.js';
import { JobOrders } from './job-orders.js';
import { jobsResource } from './jobs-resource.js';
import { queuesResource } from './queues-resource.js';
import { recurringJobsResource } from './recurring-jobs-resource.js';
import { serversResource } from './servers-resource.js';

export { classifyStorageError } from './storage-error.js';

export interface JobsApiOptions {
  readonly storage: JobReader & JobControl & ServerControl & Pick<JobStorage, 'bulk' | 'recurring'>;
  readonly client: JobClient;
  /** The jobs that may be enqueued. */
  readonly definitions: readonly JobDefinition[];
  /** Takes jobs of other names too, with whatever arguments; `false` by default. */
  readonly acceptUnknownJobs?: boolean;
}

/** The job platform as resources: jobs, queues, servers, recurring jobs, batches and the definitions of jobs. */
export function jobsApi(options: JobsApiOptions): Resource[] {
  const { storage, client, definitions, acceptUnknownJobs = false } = options;
  const orders = new JobOrders(definitions, acceptUnknownJobs);
  const jobs = jobsResource({ storage, client, orders });
  return [
    jobs,
    queuesResource(storage, jobs),
    serversResource(storage, jobs),
    recurringJobsResource(storage.recurring, orders, jobs),
    batchesResource(storage, client, orders, jobs),
    jobDefinitionsResource(definitions),
  ];
}
