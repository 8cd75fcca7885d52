import type { Job, RecurringJob } from '@longshore/jobs';
import type {
  AlertMessage,
  BlockingKeys,
  Lease,
  LostServer,
  MissedRuns,
  Orphan,
  Queue,
  Server,
  SetAsideItem,
} from '@longshore/jobs/storage';
import { alertWarnings } from './alert-failures.js';
import { counted } from '../format/count.js';
import { formatDuration } from '../format/duration.js';
import { sentence } from '../format/sentence.js';
import { clockSkew } from './clocks.js';
import { failingTypeWarnings, type FailingType } from './failing-types.js';
import { failureWarning, type RecentThroughput } from './recent-failures.js';
import { lateRecurring } from './late-recurring.js';
import { lostServers } from './lost-servers.js';
import { floodWarnings, keysOf, readyJobs, readyText } from './blocking-keys.js';
import { type FailingRecurring, failingRecurringWarnings, missedWarnings } from './failing-recurring.js';
import { longWaits } from './long-waits.js';
import { type PausedJobs, pausedTypeWarnings } from './paused-types.js';
import { pauseEnd, pauseText } from './pause.js';
import { setAsideWarnings } from './set-aside.js';
import { stalledLeases } from './stalled-leases.js';
import { isSilent } from './consumers.js';
import { isUntouched } from './untouched.js';
import type { Warning } from './warning.js';

export interface Situation {
  readonly queues: readonly Queue[];
  readonly servers: readonly Server[];
  /** Up to five running jobs, longest running first. */
  readonly longestRunning: readonly Job[];
  readonly orphans: readonly Orphan[];
  readonly stalled: readonly Lease[];
  readonly lost: readonly LostServer[];
  /** Recurring jobs that are late, except those that are waiting for their previous job. */
  readonly late: readonly RecurringJob[];
  /**
   * The latest missed run of each recurring job, if it was missed because no server was running. A run is left out once
   * a later run has come due.
   */
  readonly missed: readonly MissedRuns[];
  readonly recent: RecentThroughput;
  /** Job types that fail often enough for a warning, most failures first. */
  readonly failingTypes: readonly FailingType[];
  readonly failingRecurring: readonly FailingRecurring[];
  /** The concurrency keys that currently block jobs. */
  readonly blocking: BlockingKeys;
  /** The paused job types that have waiting jobs, or might have some. */
  readonly pausedJobs: readonly PausedJobs[];
  /** Items that background roles have set aside, newest first. */
  readonly setAside: readonly SetAsideItem[];
  /** Alert messages whose delivery has failed, newest first. */
  readonly alertFailures: readonly AlertMessage[];
  /** How far the clock of this process is ahead of the storage’s, in milliseconds. */
  readonly clockAheadMs: number;
  /** The current time by the storage’s clock, in milliseconds since 1970. */
  readonly nowMs: number;
}

/**
 * Jobs that started more recently than this, in milliseconds, do not count as abandoned. The lists of jobs and servers
 * are read separately, so a new server can be missing from its list.
 */
const SETTLING_MS = 5_000;

/** Returns all warnings, most urgent first. */
export function findWarnings(situation: Situation): Warning[] {
  return [
    ...noServers(situation),
    ...pausedQueues(situation),
    ...pausedTypeWarnings(situation.pausedJobs),
    // Precedes unserved queues, because the death of a server can explain why its queues have no consumer.
    ...lostServers(situation.lost, situation.servers, situation.nowMs),
    ...silentServers(situation),
    ...unservedQueues(situation),
    ...failures(situation),
    ...failingRecurringWarnings(
      situation.failingRecurring,
      new Set(situation.failingTypes.map(({ name }) => name)),
    ),
    ...missedWarnings(situation.missed),
    ...setAsideWarnings(situation.setAside),
    ...unhandledJobs(situation),
    ...abandonedJobs(situation),
    ...stalledLeases(situation.stalled),
    // Late recurring jobs are omitted if no server is running, because `noServers` already reports the cause.
    ...(situation.servers.length === 0 ? [] : lateRecurring(situation.late)),
    ...longWaits(situation),
    ...alertWarnings(situation.alertFailures),
    ...floodWarnings(situation.blocking, situation.nowMs),
    ...clockSkew(situation.servers, situation.clockAheadMs),
  ];
}

/** Returns warnings about failing job types or, if no type stands out, about the failures of all jobs together. */
function failures({ failingTypes, recent }: Situation): Warning[] {
  return failingTypes.length > 0 ? failingTypeWarnings(failingTypes) : failureWarning(recent);
}

/** Returns a warning if no server is running, except in a new installation that has never been used. */
function noServers(situation: Situation): Warning[] {
  if (situation.servers.length > 0 || isUntouched(situation)) return [];
  return [
    {
      cause: 'no server is running',
      text: sentence`No server is running.`,
      advice: 'Jobs are accepted, but do not run until one starts.',
      link: 'servers',
    },
  ];
}

function pausedQueues({ queues, blocking }: Situation): Warning[] {
  return queues.flatMap((queue) => {
    const { name } = queue;
    const paused = pauseText(queue);
    if (paused === null || queue.counts.enqueued === 0) return [];
    const ready = readyJobs(queue, keysOf(name, blocking));
    return [
      {
        cause: `queue ${name} is paused`,
        text: sentence`Queue “${name}” was ${paused}.`,
        advice: `${readyText(ready)} there. ${pauseEnd(queue, 'Resume it to let them run.')}`,
        link: `queues/${encodeURIComponent(name)}`,
      },
    ];
  });
}

/**
 * Returns warnings about unpaused queues that have jobs but no server. Returns none if no server is running at all,
 * because that has its own warning.
 */
function unservedQueues({ queues, servers }: Situation): Warning[] {
  if (servers.length === 0) return [];
  return queues
    .filter((queue) => queue.servers === 0 && queue.pausedAt === null && waiting(queue) > 0)
    .map((queue) => ({
      cause: `no server consumes queue ${queue.name}`,
      text: sentence`No server consumes queue “${queue.name}”.`,
      advice: `${counted(waiting(queue), 'job waits', 'jobs wait')} there. Start a server that consumes this queue.`,
      link: `queues/${encodeURIComponent(queue.name)}`,
    }));
}

/**
 * Returns warnings about jobs that no server of their queue has a handler for. Queues without servers have their own
 * warning.
 */
function unhandledJobs({ orphans }: Situation): Warning[] {
  return orphans
    .filter(({ reason }) => reason === 'no-handler')
    .map(({ queue, name, jobs }) => ({
      cause: `no handler for ${name} in queue ${queue}`,
      text: sentence`No server of queue “${queue}” has a handler for “${name}”.`,
      advice: `${counted(jobs, 'job waits', 'jobs wait')} and will fail. Start a server that has the handler, or delete the jobs.`,
      link: `jobs?name=${encodeURIComponent(name)}&queue=${encodeURIComponent(queue)}`,
    }));
}

function silentServers({ servers, nowMs }: Situation): Warning[] {
  return servers
    .filter((server) => isSilent(server, nowMs))
    .map((server) => ({
      cause: `server ${server.id} is silent`,
      subject: `server ${server.id}`,
      isMeasured: true,
      text: sentence`Server ${server.host}, process ${server.pid}, is silent: last heartbeat ${{ at: server.heartbeatAt }}.`,
      advice: `After ${formatDuration(server.timeoutMs)} it counts as dead and its ${counted(server.processing, 'job')} will run on other servers.`,
      link: `servers/${server.id}`,
    }));
}

function abandonedJobs({ longestRunning, servers, nowMs }: Situation): Warning[] {
  const running = new Set(servers.map(({ id }) => id));
  return longestRunning
    .filter((job) => job.serverId !== null && !running.has(job.serverId))
    .filter((job) => job.startedAt !== null && nowMs - job.startedAt.getTime() > SETTLING_MS)
    .map((job) => ({
      cause: `job ${job.id} is abandoned`,
      text: sentence`A job “${job.name}” is processing on a server that is gone.`,
      advice: 'Its lease will be reclaimed. If this does not change, check that servers are running.',
      link: `jobs/${job.id}`,
    }));
}

function waiting({ counts }: Queue): number {
  return counts.enqueued + counts.scheduled + counts.awaiting;
}
