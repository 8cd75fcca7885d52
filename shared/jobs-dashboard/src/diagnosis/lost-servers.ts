import type { LostServer, Server } from '@longshore/jobs/storage';
import { counted } from '../format/count.js';
import { sentence } from '../format/sentence.js';
import type { Warning } from './warning.js';

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
      cause: `server ${id} died`,
      text: sentence`Server ${host}, process ${pid}, was declared dead ${{ at: lostAt }}: last heartbeat ${{ at: heartbeatAt }}.`,
      advice: `${ran(processing)} Check its logs and those of its machine.`,
      link: 'servers',
      subject: `server ${id}`,
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
