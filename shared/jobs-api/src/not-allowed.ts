import type { NotAllowed } from '@longshore/resources';

/** Reasons why callers cannot change a collection that only servers write. */
export const writtenByServers: NotAllowed = {
  create: 'Servers record these while they run jobs.',
  replaceMany: 'A record of the past does not change.',
  deleteMany: 'Records are deleted together with their job.',
};

/** What to use instead of PUT and DELETE on the list of jobs of a queue, server, recurring job or batch. */
export const jobsBelow = {
  replaceMany: 'Use PUT /jobs, which changes jobs by their ids.',
  deleteMany: 'Use DELETE /jobs with a filter.',
} satisfies NotAllowed;
