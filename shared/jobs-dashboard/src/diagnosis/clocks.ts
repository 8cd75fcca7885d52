import type { Server } from '@longshore/jobs/storage';
import { formatDuration } from '../format/duration.js';
import { sentence } from '../format/sentence.js';
import type { Warning } from './warning.js';

/** Clocks that differ by less than this, in milliseconds, count as accurate. */
const SKEW_MS = 5_000;

/**
 * Returns text such as `12 s ahead of the storage’s clock`; `null` if the clock is accurate or its error is unknown.
 */
export function skewOf(aheadMs: number | null): string | null {
  if (aheadMs === null || Math.abs(aheadMs) < SKEW_MS) return null;
  return `${formatDuration(Math.abs(aheadMs))} ${aheadMs > 0 ? 'ahead of' : 'behind'} the storage’s clock`;
}

/**
 * Checks this process's clock and the servers' clocks, and returns a warning for each inaccurate one.
 *
 * @param aheadMs how far this process's clock is ahead of the storage's, in milliseconds
 */
export function clockSkew(servers: readonly Server[], aheadMs: number): Warning[] {
  const own = skewOf(aheadMs);
  const ofDashboard = {
    cause: 'the clock of the dashboard is wrong',
    text: sentence`The clock of this dashboard is ${own ?? ''}.`,
    advice: 'Check the time service of its machine.',
    link: 'servers',
  };
  const ofServers = servers.flatMap(({ id, host, pid, clockAheadMs }) => {
    const skew = skewOf(clockAheadMs);
    if (skew === null) return [];
    return [
      {
        cause: `the clock of server ${id} is wrong`,
        text: sentence`The clock of server ${host}, process ${pid}, is ${skew}.`,
        advice:
          'Times that its handlers compute or log are wrong by as much. Check the time service of its machine.',
        link: `servers/${id}`,
      },
    ];
  });
  return own === null ? ofServers : [ofDashboard, ...ofServers];
}
