import type { Server } from '@longshore/jobs';
import { formatDuration } from '../format/duration.js';
import { sentence } from '../format/sentence.js';
import type { Warning } from './warning.js';

/** Clocks that differ by so many milliseconds make the times that they tell wrong enough to mislead. */
const SKEW_MS = 5_000;

/** `12 s ahead of the storage’s clock`; `null` if that is no news, or not known. */
export function skewOf(aheadMs: number | null): string | null {
  if (aheadMs === null || Math.abs(aheadMs) < SKEW_MS) return null;
  return `${formatDuration(Math.abs(aheadMs))} ${aheadMs > 0 ? 'ahead of' : 'behind'} the storage’s clock`;
}

/** @param aheadMs of this process's clock, compared with the storage's */
export function clockSkew(servers: readonly Server[], aheadMs: number): Warning[] {
  const own = skewOf(aheadMs);
  const ofDashboard = {
    text: sentence`The clock of this dashboard is ${own ?? ''}.`,
    advice: 'Ages on these pages are wrong by as much. Check the time service of its machine.',
    link: 'servers',
  };
  const ofServers = servers.flatMap(({ id, host, pid, clockAheadMs }) => {
    const skew = skewOf(clockAheadMs);
    if (skew === null) return [];
    return [
      {
        text: sentence`The clock of server ${host}, process ${pid}, is ${skew}.`,
        advice:
          'Times that its handlers compute, and those in its logs, are wrong by as much. Check the time service of its machine.',
        link: `servers/${id}`,
      },
    ];
  });
  return own === null ? ofServers : [ofDashboard, ...ofServers];
}
