import type { Role } from '../access/viewer.js';
import { notFound, Problem } from '../http/problem.js';
import type { ControlResult, DashboardControl } from './control.js';

/** Something that a form of a page does. */
export interface Action {
  /** The least role that may do it. */
  readonly role: Role;
  /**
   * Does it and tells where to go on, inside the dashboard.
   *
   * @throws {Problem} if there is no such thing or its state does not allow it
   */
  readonly perform: (control: DashboardControl, target: string) => Promise<string>;
}

/** Every action and its path inside the dashboard; `:target` is a job's id or a queue's name. */
export const actions: Readonly<Record<string, Action>> = {
  '/jobs/:target/cancel': {
    role: 'operator',
    perform: async (control, id) => jobAfter(await control.cancelJob(id), 'cancelled'),
  },
  '/jobs/:target/retry': {
    role: 'operator',
    perform: async (control, id) => jobAfter(await control.retryJob(id), 'retried'),
  },
  '/jobs/:target/run': {
    role: 'operator',
    perform: async (control, id) => jobAfter(await control.runJob(id), 'made ready'),
  },
  '/jobs/:target/delete': {
    role: 'admin',
    perform: async (control, id) => {
      jobAfter(await control.deleteJob(id), 'deleted');
      return 'jobs';
    },
  },
  '/queues/:target/pause': {
    role: 'operator',
    perform: async (control, name) => {
      await control.pauseQueue(name);
      return `queues/${encodeURIComponent(name)}`;
    },
  },
  '/queues/:target/resume': {
    role: 'operator',
    perform: async (control, name) => {
      await control.resumeQueue(name);
      return `queues/${encodeURIComponent(name)}`;
    },
  },
};

function jobAfter(result: ControlResult, done: string): string {
  if (result.outcome === 'unknown') {
    throw notFound('There is no such job', 'It may have been deleted, or removed after its retention time.');
  }
  if (result.outcome === 'illegal') {
    throw new Problem({
      status: 409,
      title: `This job cannot be ${done}`,
      text: `It is ${result.job.state} now; nothing was changed. Go back to see its page as it is.`,
    });
  }
  return `jobs/${result.job.id}`;
}
