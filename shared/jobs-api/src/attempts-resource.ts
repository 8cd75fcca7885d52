import type { JobStorage } from '@longshore/jobs';
import { defineResource, pageOf, type Resource } from '@longshore/resources';
import { AttemptItem, toAttemptItem } from './job-item.js';
import { writtenByServers } from './not-allowed.js';

/** `/jobs/{id}/attempts`: the attempts of a job, oldest first. */
export function attemptsResource(storage: Pick<JobStorage, 'jobs'>): Resource {
  return defineResource({
    name: 'attempts',
    description: 'The attempts of a job: every time that a server ran it.',
    key: 'attempt',
    item: AttemptItem,
    serverSet: ['attempt', 'outcome', 'serverId', 'startedAt', 'finishedAt', 'error'],
    notAllowed: writtenByServers,
    storage: {
      seeks: true,
      list: async (query, { parents }) => {
        const attempts = await storage.jobs.listAttempts(parents.at(-1)?.id ?? '');
        return pageOf(attempts.map(toAttemptItem), query);
      },
    },
  });
}
