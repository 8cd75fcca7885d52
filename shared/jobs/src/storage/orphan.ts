import type { Server } from '../job/job.js';

/** A group of waiting jobs, of one name in one queue, that no server can run. */
export interface Orphan {
  readonly queue: string;
  readonly name: string;
  /**
   * Number of these jobs among the waiting jobs that were examined, which are at most {@link maxExamined} per state.
   */
  readonly jobs: number;
  /** `no-server`: the queue has no consumer. `no-handler`: none of its consumers has a handler for the name. */
  readonly reason: 'no-server' | 'no-handler';
}

/** Maximum number of waiting jobs to examine per state. */
export const maxExamined = 5_000;

/** Returns the groups of waiting jobs that none of these servers will run, the largest first. */
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
