import type { JobStorage } from '@longshore/jobs';

/** What the dashboard’s forms do, of all that a storage can. */
export type DashboardControl = Pick<
  JobStorage,
  'cancelJob' | 'retryJob' | 'runJob' | 'deleteJob' | 'pauseQueue' | 'resumeQueue'
>;

export type ControlResult = Awaited<ReturnType<DashboardControl['cancelJob']>>;
