import type { LostServer, Server } from '@longshore/jobs';
import { counted } from '../format/count.js';
import { sentence } from '../format/sentence.js';
import type { Warning } from './warning.js';

/** Whoever looks at the overview so many milliseconds later has been told, or has mended it. */
const NEWS_MS = 15 * 60_000;

/** Servers that died a short while ago, unless another one has been started on the same machine since. */
export function lostServers(
  lost: readonly LostServer[],
  servers: readonly Server[],
  nowMs: number,
): Warning[] {
  return lost
    .filter(({ lostAt }) => nowMs - lostAt.getTime() <= NEWS_MS)
    .filter((gone) => !servers.some((server) => replaces(server, gone)))
    .map(({ host, pid, heartbeatAt, lostAt, processing }) => ({
      text: sentence`Server ${host}, process ${pid}, has not been heard of for ${{ since: heartbeatAt }}, and was declared dead ${{ at: lostAt }}.`,
      advice: `${ran(processing)} See what ended its process, in its logs and those of its machine.`,
      link: 'servers',
    }));
}

function replaces(server: Server, gone: LostServer): boolean {
  return server.host === gone.host && server.startedAt > gone.heartbeatAt;
}

function ran(jobs: number): string {
  if (jobs === 0) return 'It ran no jobs when it was last heard of.';
  return `${counted(jobs, 'job')} that it ran when it was last heard of ${jobs === 1 ? 'was' : 'were'} taken back.`;
}
