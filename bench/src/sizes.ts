import type { ContenderName } from './contenders/index.js';

/** Amount of work and duration of each scenario. */
export interface Sizes {
  readonly rounds: number;
  /** Number of jobs that one round enqueues in bulk or drains. */
  readonly jobs: number;
  /** Number of jobs for pg-boss and BullMQ. The full number would take too long. */
  readonly slowJobs: number;
  /** Maximum number of settings to try per contender. */
  readonly settingsTried: number;
  /** Number of jobs per candidate when settings are tried, and per warm-up. */
  readonly sweepJobs: number;
  /** Number of jobs with steps that Longshore runs in a round. */
  readonly stepJobs: number;
  /** Number of jobs with steps for the peers. */
  readonly slowStepJobs: number;
  /** Number of jobs that sleep for a month. */
  readonly sleepingJobs: number;
  readonly finishedJobs: number;
  readonly scheduledJobs: number;
  readonly latencyJobs: number;
  readonly singleJobs: number;
  readonly singleCallers: number;
  readonly httpSeconds: number;
  readonly httpConnections: number;
  /** Number of servers in the idle fleet. */
  readonly fleetServers: number;
  readonly idleSeconds: number;
  /** Number of scheduled jobs that become due at once. */
  readonly dueJobs: number;
  readonly recurringJobs: number;
  readonly soakSeconds: number;
  /** Number of finished jobs in the small store of the `lists` scenario. */
  readonly fewListed: number;
  /** Number of finished jobs in the large store of the `lists` scenario. */
  readonly manyListed: number;
  readonly listRounds: number;
  readonly listeners: number;
  readonly listenSeconds: number;
  readonly dashboardFinished: number;
  readonly dashboardWaiting: number;
  readonly dashboardQueues: number;
  readonly dashboardRounds: number;
  readonly dashboardViewers: number;
  readonly dashboardSeconds: number;
}

export const fullSizes: Sizes = {
  rounds: 5,
  jobs: 100_000,
  slowJobs: 20_000,
  settingsTried: 6,
  sweepJobs: 25_000,
  stepJobs: 10_000,
  slowStepJobs: 2_000,
  sleepingJobs: 100_000,
  finishedJobs: 3_000_000,
  scheduledJobs: 1_000_000,
  latencyJobs: 300,
  singleJobs: 20_000,
  singleCallers: 10,
  httpSeconds: 8,
  httpConnections: 64,
  fleetServers: 100,
  idleSeconds: 20,
  dueJobs: 1_000_000,
  recurringJobs: 1_000_000,
  soakSeconds: 600,
  fewListed: 10_000,
  manyListed: 10_000_000,
  listRounds: 200,
  listeners: 10_000,
  listenSeconds: 10,
  dashboardFinished: 10_000_000,
  dashboardWaiting: 100_000,
  dashboardQueues: 1_000,
  dashboardRounds: 40,
  dashboardViewers: 200,
  dashboardSeconds: 20,
};

/** Just enough to check that every scenario works; the results are meaningless. */
export const smokeSizes: Sizes = {
  rounds: 2,
  jobs: 500,
  slowJobs: 200,
  settingsTried: 2,
  sweepJobs: 100,
  stepJobs: 100,
  slowStepJobs: 40,
  sleepingJobs: 100,
  finishedJobs: 1_000,
  scheduledJobs: 1_000,
  latencyJobs: 5,
  singleJobs: 200,
  singleCallers: 10,
  httpSeconds: 1,
  httpConnections: 8,
  fleetServers: 2,
  idleSeconds: 1,
  dueJobs: 500,
  recurringJobs: 500,
  soakSeconds: 1,
  fewListed: 500,
  manyListed: 1_000,
  listRounds: 5,
  listeners: 20,
  listenSeconds: 1,
  dashboardFinished: 1_000,
  dashboardWaiting: 100,
  dashboardQueues: 10,
  dashboardRounds: 2,
  dashboardViewers: 3,
  dashboardSeconds: 1,
};

/** Returns how many jobs a contender runs in a round. pg-boss and BullMQ run at most `slowJobs`. */
export function jobsOf(contender: ContenderName, { jobs, slowJobs }: Sizes): number {
  return contender === 'longshore' || contender === 'graphile-worker' ? jobs : Math.min(jobs, slowJobs);
}

/** Number of durable steps of each job with steps. */
export const stepsPerJob = 10;

/** Returns how many jobs with steps a contender runs in a round. */
export function stepJobsOf(contender: ContenderName, { stepJobs, slowStepJobs }: Sizes): number {
  return contender === 'longshore' ? stepJobs : Math.min(stepJobs, slowStepJobs);
}
