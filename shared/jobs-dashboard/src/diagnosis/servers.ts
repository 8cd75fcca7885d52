import type { Lease, LostServer, Server } from '@longshore/jobs/storage';
import { counted } from '../format/count.js';
import { sentence } from '../format/sentence.js';
import { formatDuration } from '../format/time.js';
import { countFigure, type Warning, type WarningFigure } from './warning.js';

/**
 * Looks up the servers that consume a queue. Filtering all servers for each of a thousand queues would take too long.
 */
type ConsumersOf = (queue: string) => readonly Server[];

export function groupByQueue(servers: readonly Server[]): ConsumersOf {
  const byQueue = new Map<string, Server[]>();
  for (const server of servers) {
    for (const queue of server.queues) {
      const consumers = byQueue.get(queue);
      if (consumers === undefined) byQueue.set(queue, [server]);
      else consumers.push(server);
    }
  }
  return (queue) => byQueue.get(queue) ?? [];
}

/** Returns the servers in the state `running`, that is, neither quiet nor stopping. */
export function activeAmong(servers: readonly Server[]): readonly Server[] {
  return servers.filter(({ state }) => state === 'running');
}

/** Returns whether the last heartbeat is older than half of the server’s timeout. */
export function isSilent(
  { heartbeatAt, timeoutMs }: Pick<Server, 'heartbeatAt' | 'timeoutMs'>,
  nowMs: number,
): boolean {
  return nowMs - heartbeatAt.getTime() > timeoutMs / 2;
}

export function silentServers(servers: readonly Server[], nowMs: number): Warning[] {
  return servers
    .filter((server) => isSilent(server, nowMs))
    .map((server) => ({
      kind: 'server-silent',
      cause: `server ${server.id} is silent`,
      subject: `server ${server.id}`,
      since: server.heartbeatAt,
      isMeasured: true,
      text: sentence`Server ${server.host}, process ${server.pid}, is silent: last heartbeat ${{ at: server.heartbeatAt }}.`,
      figure: countFigure(server.processing, 'job runs on it', 'jobs run on it'),
      advice: `After ${formatDuration(server.timeoutMs)} it counts as dead and its ${counted(server.processing, 'job')} will run on other servers.`,
      link: `servers/${server.id}`,
    }));
}

/**
 * Selects leases that expired at least five seconds ago. More recent ones are usually about to be renewed or reclaimed.
 */
export const stalledQuery = { expiredForMs: 5_000, limit: 100 } as const;

/**
 * Returns whether the lease should already have been renewed or reclaimed: it expired more than five seconds ago, and
 * the handler's transaction has not locked the job.
 */
export function isStalled({ expiresAt, locked }: Lease, nowMs: number): boolean {
  return !locked && nowMs - expiresAt.getTime() > stalledQuery.expiredForMs;
}

/** @param leases longest expired first, at most as many as {@link stalledQuery} allows */
export function stalledLeases(leases: readonly Lease[]): Warning[] {
  const [first] = leases;
  if (first === undefined) return [];
  const { length } = leases;
  const many = length < stalledQuery.limit ? counted(length, 'job') : `${length} jobs or more`;
  const servers = [...new Set(leases.map(({ serverId }) => serverId))];
  const where = servers.length === 1 ? 'a server that is' : `${servers.length} servers that are`;
  const those = servers.map((id) => `&server=${encodeURIComponent(id)}`).join('');
  return [
    {
      kind: 'leases-stalled',
      cause: 'leases are stalled',
      since: first.expiresAt,
      isMeasured: true,
      figure: countFigure(length, 'job stalled', 'jobs stalled', length < stalledQuery.limit ? '' : '≥ '),
      text: sentence`${many} stalled: ${where} alive ${servers.length === 1 ? 'has' : 'have'} stopped renewing ${length === 1 ? 'its lease, which' : 'their leases, the first of which'} expired ${{ at: first.expiresAt }}.`,
      advice:
        'A handler blocks its server’s process, or the server cannot write. Other servers reclaim such jobs; if none does, restart the server.',
      link: length === 1 ? `jobs/${first.jobId}` : `jobs?state=processing&order=oldest${those}`,
    },
  ];
}

/** Servers that were lost longer ago than this, in milliseconds, get no warning. */
const RECENTLY_LOST_MS = 15 * 60_000;

/** Returns warnings about servers that died recently, unless another server has been started on the same host since. */
export function lostServers(
  lost: readonly LostServer[],
  servers: readonly Server[],
  nowMs: number,
): Warning[] {
  return lost
    .filter(({ lostAt }) => nowMs - lostAt.getTime() <= RECENTLY_LOST_MS)
    .filter((gone) => !servers.some((server) => replaces(server, gone)))
    .map(({ id, host, pid, heartbeatAt, lostAt, processing }) => ({
      kind: 'server-died',
      figure: countFigure(processing, 'job reclaimed', 'jobs reclaimed'),
      cause: `server ${id} died`,
      text: sentence`Server ${host}, process ${pid}, was declared dead ${{ at: lostAt }}: last heartbeat ${{ at: heartbeatAt }}.`,
      advice: `${ran(processing)} Check its logs and those of its machine.`,
      link: 'servers',
      subject: `server ${id}`,
      since: lostAt,
    }));
}

function replaces(server: Server, gone: LostServer): boolean {
  return server.host === gone.host && server.startedAt > gone.heartbeatAt;
}

function ran(jobs: number): string {
  if (jobs === 0) return 'No jobs have been reclaimed from it so far.';
  const [were, run, their] = jobs === 1 ? ['was', 'runs', 'its'] : ['were', 'run', 'their'];
  return `${counted(jobs, 'job')} that it was running ${were} reclaimed and ${run} again, unless this was ${their} last attempt.`;
}

/** Clocks that differ by less than this, in milliseconds, count as accurate. */
const SKEW_MS = 5_000;

/**
 * Returns text such as `12 s ahead of the storage’s clock`; `null` if the clock is accurate or its error is unknown.
 */
export function skewOf(aheadMs: number | null): string | null {
  if (aheadMs === null || Math.abs(aheadMs) < SKEW_MS) return null;
  return `${formatDuration(Math.abs(aheadMs))} ${aheadMs > 0 ? 'ahead of' : 'behind'} the storage’s clock`;
}

function skewFigure(aheadMs: number): WarningFigure {
  return { value: [formatDuration(Math.abs(aheadMs))], label: aheadMs > 0 ? 'ahead' : 'behind' };
}

/**
 * Checks this process's clock and the servers' clocks, and returns a warning for each inaccurate one.
 *
 * @param aheadMs how far this process's clock is ahead of the storage's, in milliseconds
 */
export function clockSkew(servers: readonly Server[], aheadMs: number): Warning[] {
  const ownSkew = skewOf(aheadMs);
  const ofDashboard: Warning = {
    kind: 'clock-wrong',
    cause: 'the clock of the dashboard is wrong',
    text: sentence`The clock of this dashboard is ${ownSkew ?? ''}.`,
    figure: skewFigure(aheadMs),
    advice: 'Check the time service of its machine.',
    link: 'servers',
  };
  const ofServers = servers.flatMap(({ id, host, pid, clockAheadMs }): Warning[] => {
    const skew = skewOf(clockAheadMs);
    if (skew === null) return [];
    return [
      {
        kind: 'clock-wrong',
        cause: `the clock of server ${id} is wrong`,
        text: sentence`The clock of server ${host}, process ${pid}, is ${skew}.`,
        figure: skewFigure(clockAheadMs ?? 0),
        advice:
          'Times that its handlers compute or log are wrong by as much. Check the time service of its machine.',
        link: `servers/${id}`,
      },
    ];
  });
  return ownSkew === null ? ofServers : [ofDashboard, ...ofServers];
}
