import type { JobStorage } from '@longshore/jobs';
import { defineResource, pageOf, type Resource } from '@longshore/resources';
import { JobItem, toJobItem } from './job-item.js';

/** So many are read to find those of a page and their number; a job with more is beyond what people page through. */
const mostRead = 10_000;

/** `/jobs/{id}/continuations`: the jobs that wait or waited for this one, the oldest first. */
export function continuationsResource(storage: Pick<JobStorage, 'jobs'>): Resource {
  return defineResource({
    name: 'continuations',
    description: 'The jobs that wait or waited for one job.',
    item: JobItem,
    serverSet: Object.keys(JobItem.properties) as (keyof typeof JobItem.properties)[],
    storage: {
      seeks: true,
      list: async (query, { parents }) => {
        const jobs = await storage.jobs.listContinuations(parents.at(-1)?.id ?? '', { limit: mostRead });
        return pageOf(jobs.map(toJobItem), query);
      },
    },
  });
}
