import type { Server } from '../job/job.js';

/** Jobs that wait for a server that is not there. */
export interface Orphan {
  readonly queue: string;
  readonly name: string;
  /** How many wait, of the first 10 000 that were looked at. */
  readonly jobs: number;
  /** `no-server`: none takes jobs from the queue. `no-handler`: of those that do, none has a handler for the name. */
  readonly reason: 'no-server' | 'no-handler';
}

/** So many waiting jobs of each kind are looked at. */
export const mostLookedAt = 5_000;

/** Which of the jobs that wait nobody will run, as things stand; those with the most jobs first. */
export function orphansAmong(
  waiting: readonly Omit<Orphan, 'reason'>[],
  servers: readonly Pick<Server, 'queues' | 'jobNames'>[],
): Orphan[] {
  return waiting
    .flatMap((group): Orphan[] => {
      const serving = servers.filter(({ queues }) => queues.includes(group.queue));
      if (serving.length === 0) return [{ ...group, reason: 'no-server' }];
      // A server that did not say what it handles may handle anything.
      const handled = serving.some(({ jobNames }) => jobNames === null || jobNames.includes(group.name));
      return handled ? [] : [{ ...group, reason: 'no-handler' }];
    })
    .toSorted((one, other) => other.jobs - one.jobs);
}
