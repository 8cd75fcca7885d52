import type { Resource } from '@longshore/resources';
import { type JobsApiOptions, jobsResource } from './jobs-resource.js';
import { queuesResource } from './queues-resource.js';
import { serversResource } from './servers-resource.js';

export { classifyStorageError } from './storage-error.js';
export type { JobsApiOptions } from './jobs-resource.js';

/** The job platform as resources: `/jobs`, `/queues`, `/servers`. */
export function jobsApi(options: JobsApiOptions): Resource[] {
  return [jobsResource(options), queuesResource(options.storage), serversResource(options.storage)];
}
