import type { NotAllowed } from '@longshore/resources';

/** Reasons why callers cannot change a collection that only servers write. */
export const writtenByServers: NotAllowed = {
  create: 'Servers record these while they run jobs.',
  replaceMany: 'A record of the past does not change.',
  deleteMany: 'Records are deleted together with their job.',
};

/** Reasons why the jobs of a queue, server, recurring job or batch cannot be changed as a collection. */
export const jobsBelow = {
  replaceMany: 'Use PUT /jobs, which changes jobs by their ids.',
  deleteMany: 'Use DELETE /jobs with a filter.',
} satisfies NotAllowed;
