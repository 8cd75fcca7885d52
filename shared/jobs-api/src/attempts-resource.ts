import type { JobStorage } from '@longshore/jobs';
import { defineResource, type Resource } from '@longshore/resources';
import { AttemptItem, toAttemptItem } from './job-item.js';

/** `/jobs/{id}/attempts`: every run of a job, the oldest first. */
export function attemptsResource(storage: Pick<JobStorage, 'jobs'>): Resource {
  return defineResource({
    name: 'attempts',
    description: 'The runs of one job.',
    key: 'attempt',
    item: AttemptItem,
    serverSet: ['attempt', 'outcome', 'serverId', 'startedAt', 'finishedAt', 'error'],
    sort: [],
    search: [],
    storage: {
      list: async ({ sort, limit, offset }, { parents }) => {
        const attempts = await storage.jobs.listAttempts(parents.at(-1)?.id ?? '');
        if (sort[0]?.direction === 'desc') attempts.reverse();
        return { items: attempts.slice(offset, offset + limit).map(toAttemptItem), total: attempts.length };
      },
    },
  });
}
