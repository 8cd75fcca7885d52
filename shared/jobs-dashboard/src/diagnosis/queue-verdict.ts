import type { Queue, Server } from '@longshore/jobs/storage';
import { counted, formatNumber } from '../format/count.js';
import { type Sentence, told } from '../format/sentence.js';
import type { Look } from '../format/state-look.js';
import { type Obstacle, obstacleTo, slotsOf } from './obstacle.js';
import { openAmong } from './takers.js';

/** How a queue gets on, and why. */
export interface QueueVerdict {
  readonly look: Look;
  readonly text: Sentence;
  readonly tone: 'calm' | 'attention';
}

export const obstacleLooks: Readonly<Record<Obstacle['kind'], Look>> = {
  paused: { icon: 'pause', word: 'Paused', tone: 'lost' },
  unserved: { icon: 'alert', word: 'No server', tone: 'failed' },
  quiet: { icon: 'alert', word: 'No server takes jobs', tone: 'failed' },
  silent: { icon: 'alert', word: 'Servers are silent', tone: 'failed' },
  limit: { icon: 'half', word: 'At its limit', tone: 'processing' },
  busy: { icon: 'half', word: 'All slots busy', tone: 'processing' },
  rate: { icon: 'clock', word: 'Held by its rate limit', tone: 'scheduled' },
  stuck: { icon: 'alert', word: 'Stuck', tone: 'failed' },
};
const running: Look = { icon: 'half', word: 'Running', tone: 'processing' };
const starting: Look = { icon: 'stack', word: 'About to start', tone: 'enqueued' };
const idle: Look = { icon: 'check', word: 'Nothing waits', tone: 'done' };

/** @param takers the running servers that take jobs from the queue */
export function queueVerdict(queue: Queue, takers: readonly Server[], nowMs: number): QueueVerdict {
  const { counts, oldestEnqueuedAt } = queue;
  const obstacle = obstacleTo(queue, takers, nowMs);
  if (counts.enqueued === 0) return withoutReadyJobs(queue, takers, obstacle);
  const oldest = oldestEnqueuedAt === null ? '' : told` the oldest for ${{ since: oldestEnqueuedAt }},`;
  const ready = told`${counted(counts.enqueued, 'job is', 'jobs are')} ready,${oldest}`;
  if (obstacle !== null) {
    const text = told`${ready} ${obstacle.reason}. ${obstacle.remedy}`;
    return { look: obstacleLooks[obstacle.kind], text, tone: obstacle.tone };
  }
  if (oldestEnqueuedAt === null) {
    const held = counted(counts.enqueued, 'job is', 'jobs are');
    const text = told`${held} held back by concurrency keys: each becomes ready when another job with its key ends.`;
    return { look: obstacleLooks.limit, text, tone: 'calm' };
  }
  const { slots, free } = slotsOf(takers);
  const text = told`${ready} and ${formatNumber(free)} of ${counted(slots, 'slot')} are free.`;
  return { look: counts.processing > 0 ? running : starting, text, tone: 'calm' };
}

function withoutReadyJobs(
  { counts, pausedAt }: Queue,
  takers: readonly Server[],
  obstacle: Obstacle | null,
): QueueVerdict {
  if (pausedAt !== null) {
    const text = told`It was paused ${{ at: pausedAt }}. Nothing starts until somebody resumes it; jobs that run go on.`;
    return { look: obstacleLooks.paused, text, tone: 'attention' };
  }
  const later = counts.scheduled + counts.awaiting;
  if ((obstacle?.kind === 'unserved' || obstacle?.kind === 'quiet') && later > 0) {
    const waiting = counted(later, 'job waits', 'jobs wait');
    const text = told`${waiting} for a time or for other jobs, ${obstacle.reason}. ${obstacle.remedy}`;
    return { look: obstacleLooks[obstacle.kind], text, tone: 'attention' };
  }
  const { length } = openAmong(takers);
  const taken = length === 0 ? 'No server takes' : counted(length, 'server takes', 'servers take');
  const text = told`No job is ready. ${taken} jobs from this queue.`;
  return { look: counts.processing > 0 ? running : idle, text, tone: 'calm' };
}
