import type { Job, RecurringJob } from '@longshore/jobs';
import type { Lease, LostServer, Orphan, Queue, Server, SetAsideItem } from '@longshore/jobs/storage';
import { counted } from '../format/count.js';
import { formatDuration } from '../format/duration.js';
import { sentence } from '../format/sentence.js';
import { clockSkew } from './clocks.js';
import { failingTypeWarnings, type FailingType } from './failing-types.js';
import { failureWarning, type RecentThroughput } from './recent-failures.js';
import { lateRecurring } from './late-recurring.js';
import { lostServers } from './lost-servers.js';
import { findBlocker } from './blocker.js';
import { setAsideWarnings } from './set-aside.js';
import { stalledLeases } from './stalled-leases.js';
import { isSilent, groupByQueue } from './consumers.js';
import { isUntouched } from './untouched.js';
import type { Warning } from './warning.js';

export interface Situation {
  readonly queues: readonly Queue[];
  readonly servers: readonly Server[];
  /** The jobs that have been processing longest. */
  readonly longestRunning: readonly Job[];
  readonly orphans: readonly Orphan[];
  readonly stalled: readonly Lease[];
  readonly lost: readonly LostServer[];
  /** Recurring jobs that are late without a reason. */
  readonly late: readonly RecurringJob[];
  readonly recent: RecentThroughput;
  /** Job types that fail more often than usual. */
  readonly failingTypes: readonly FailingType[];
  /** Items that background work has set aside, newest first. */
  readonly setAside: readonly SetAsideItem[];
  /** How far the clock of this process is ahead of the storage’s, in milliseconds. */
  readonly clockAheadMs: number;
  /** By the storage’s clock. */
  readonly nowMs: number;
}

/**
 * A job that has been ready for longer than this, in milliseconds, although servers are running, is worth a
 * warning.
 */
const LONG_WAIT_MS = 5 * 60_000;
/** How long the lists of jobs and servers, which are read separately, may disagree, in milliseconds. */
const SETTLING_MS = 5_000;

/** Returns all warnings, most urgent first. */
export function findWarnings(situation: Situation): Warning[] {
  return [
    ...noServers(situation),
    ...pausedQueues(situation),
    ...unservedQueues(situation),
    ...failures(situation),
    ...setAsideWarnings(situation.setAside),
    ...unhandledJobs(situation),
    ...silentServers(situation),
    ...lostServers(situation.lost, situation.servers, situation.nowMs),
    ...abandonedJobs(situation),
    ...stalledLeases(situation.stalled),
    // Without any server at all, one warning is enough.
    ...(situation.servers.length === 0 ? [] : lateRecurring(situation.late)),
    ...longWaits(situation),
    ...clockSkew(situation.servers, situation.clockAheadMs),
  ];
}

/** Names the job types that fail; if none stands out, warns of failures of all jobs together. */
function failures({ failingTypes, recent }: Situation): Warning[] {
  return failingTypes.length > 0 ? failingTypeWarnings(failingTypes) : failureWarning(recent);
}

/** Warns if no server is running, except in a new installation that has never been used. */
function noServers(situation: Situation): Warning[] {
  if (situation.servers.length > 0 || isUntouched(situation)) return [];
  return [
    {
      text: sentence`No server is running.`,
      advice: 'Jobs are accepted, but do not run until one starts.',
      link: 'servers',
    },
  ];
}

function pausedQueues({ queues }: Situation): Warning[] {
  return queues.flatMap(({ name, pausedAt, counts }) => {
    if (pausedAt === null || counts.enqueued === 0) return [];
    return [
      {
        text: sentence`Queue “${name}” was paused ${{ at: pausedAt }}.`,
        advice: `${counted(counts.enqueued, 'job is', 'jobs are')} ready there. Resume it to let them run.`,
        link: `queues/${encodeURIComponent(name)}`,
      },
    ];
  });
}

/** Warns of queues that have jobs but no server. If no server is running at all, one warning about that is enough. */
function unservedQueues({ queues, servers }: Situation): Warning[] {
  if (servers.length === 0) return [];
  return queues
    .filter((queue) => queue.servers === 0 && queue.pausedAt === null && waiting(queue) > 0)
    .map((queue) => ({
      text: sentence`No server consumes queue “${queue.name}”.`,
      advice: `${counted(waiting(queue), 'job waits', 'jobs wait')} there. Start a server that consumes this queue.`,
      link: `queues/${encodeURIComponent(queue.name)}`,
    }));
}

/** Warns of jobs without a handler on the servers of their queue. Queues without servers have their own warning. */
function unhandledJobs({ orphans }: Situation): Warning[] {
  return orphans
    .filter(({ reason }) => reason === 'no-handler')
    .map(({ queue, name, jobs }) => ({
      text: sentence`No server of queue “${queue}” has a handler for “${name}”.`,
      advice: `${counted(jobs, 'job waits', 'jobs wait')} and will fail. Start a server that has the handler, or delete the jobs.`,
      link: `jobs?name=${encodeURIComponent(name)}&queue=${encodeURIComponent(queue)}`,
    }));
}

function silentServers({ servers, nowMs }: Situation): Warning[] {
  return servers
    .filter((server) => isSilent(server, nowMs))
    .map((server) => ({
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
      text: sentence`A job “${job.name}” is processing on a server that is gone.`,
      advice: 'Its lease will be taken back. If this does not change, check that servers are running.',
      link: `jobs/${job.id}`,
    }));
}

function longWaits({ queues, servers, nowMs }: Situation): Warning[] {
  const consumersOf = groupByQueue(servers);
  const occupants = new Set<string>();
  return queues.flatMap((queue) => {
    if (queue.servers === 0 || queue.pausedAt !== null || queue.oldestEnqueuedAt === null) return [];
    const waitedMs = nowMs - queue.oldestEnqueuedAt.getTime();
    if (waitedMs < SETTLING_MS) return [];
    const blocker = findBlocker(queue, consumersOf(queue.name), nowMs, queues);
    const stands = blocker?.tone === 'attention';
    if (!stands && waitedMs < LONG_WAIT_MS) return [];
    // One warning per cause: all queues that wait for the same slots share it.
    if (blocker?.occupant !== undefined) {
      if (occupants.has(blocker.occupant)) return [];
      occupants.add(blocker.occupant);
    }
    const reason = blocker === null ? '' : sentence`, ${blocker.reason}`;
    return [
      {
        text: sentence`Queue “${queue.name}” ${stands ? 'is stalled' : 'lags'}: its oldest job has been ready for ${{ since: queue.oldestEnqueuedAt }}${reason}.`,
        advice: `${counted(queue.counts.enqueued, 'job is', 'jobs are')} ready. ${blocker?.remedy ?? 'Add servers, or check what keeps them busy.'}`,
        link: `queues/${encodeURIComponent(queue.name)}`,
      },
    ];
  });
}

function waiting({ counts }: Queue): number {
  return counts.enqueued + counts.scheduled + counts.awaiting;
}
