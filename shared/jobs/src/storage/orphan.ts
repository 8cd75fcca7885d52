import type { Server } from '../job/job.js';

/** A group of waiting jobs with the same name, in the same queue, that no server can run. */
export interface Orphan {
  readonly queue: string;
  readonly name: string;
  /**
   * Number of jobs in the group; a lower bound if the storage has more waiting jobs than it examines (see
   * {@link maxExamined}).
   */
  readonly jobs: number;
  /**
   * `no-server`: no server consumes the queue. `no-handler`: no server that consumes the queue has a handler for the
   * name.
   */
  readonly reason: 'no-server' | 'no-handler';
}

/** Maximum number of waiting jobs to examine per state when searching for orphans. */
export const maxExamined = 5_000;

/** Returns the groups of waiting jobs that none of these servers can run, largest first. */
export function findOrphans(
  waiting: readonly Omit<Orphan, 'reason'>[],
  servers: readonly Pick<Server, 'queues' | 'jobNames'>[],
): Orphan[] {
  return waiting
    .flatMap((group): Orphan[] => {
      const serving = servers.filter(({ queues }) => queues.includes(group.queue));
      if (serving.length === 0) return [{ ...group, reason: 'no-server' }];
      // A server that did not register its handlers may handle any name.
      const handled = serving.some(({ jobNames }) => jobNames === null || jobNames.includes(group.name));
      return handled ? [] : [{ ...group, reason: 'no-handler' }];
    })
    .toSorted((one, other) => other.jobs - one.jobs);
}
