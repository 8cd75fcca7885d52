import type { NotAllowed } from '@longshore/resources';

/** Reasons why callers cannot change a collection that servers record while they run jobs. */
export const writtenByServers: NotAllowed = {
  create: 'Servers record these while they run jobs.',
  replaceMany: 'A record of the past does not change.',
  deleteMany: 'Records are deleted together with their job.',
};

/** Reasons why the jobs below a server, a recurring job or a batch cannot be changed as a collection. */
export const jobsBelow = {
  replaceMany: 'Use PUT /jobs, which changes jobs by their ids.',
  deleteMany: 'Use DELETE /jobs with a filter.',
} satisfies NotAllowed;
