import type { Queue, Server } from '@longshore/jobs/storage';
import { counted, formatNumber } from '../format/count.js';
import { type Sentence, sentence } from '../format/sentence.js';
import type { Badge } from '../format/state-badge.js';
import { type Blocker, findBlocker, slotsOf } from './blocker.js';
import { activeAmong } from './consumers.js';

/** The status of a queue and its reason. */
export interface QueueStatus {
  readonly badge: Badge;
  readonly text: Sentence;
  readonly tone: 'calm' | 'attention';
}

export const blockerBadges: Readonly<Record<Blocker['kind'], Badge>> = {
  paused: { icon: 'pause', word: 'Paused', tone: 'lost' },
  unserved: { icon: 'alert', word: 'No server', tone: 'failed' },
  quiet: { icon: 'alert', word: 'No server takes jobs', tone: 'failed' },
  silent: { icon: 'alert', word: 'Servers are silent', tone: 'failed' },
  limit: { icon: 'half', word: 'At its limit', tone: 'processing' },
  busy: { icon: 'half', word: 'All slots busy', tone: 'processing' },
  rate: { icon: 'clock', word: 'At its rate limit', tone: 'scheduled' },
  stuck: { icon: 'alert', word: 'Stuck', tone: 'failed' },
};
const running: Badge = { icon: 'half', word: 'Running', tone: 'processing' };
const starting: Badge = { icon: 'stack', word: 'About to start', tone: 'enqueued' };
const empty: Badge = { icon: 'check', word: 'Queue is empty', tone: 'done' };
const idle: Badge = { icon: 'clock', word: 'No jobs ready', tone: 'done' };

/**
 * @param consumers the running servers that consume the queue
 * @param queues all queues
 */
export function queueStatus(
  queue: Queue,
  consumers: readonly Server[],
  nowMs: number,
  queues: readonly Queue[] = [],
): QueueStatus {
  const { counts, oldestEnqueuedAt } = queue;
  const blocker = findBlocker(queue, consumers, nowMs, queues);
  if (counts.enqueued === 0) return withoutReadyJobs(queue, consumers, blocker);
  const oldest = oldestEnqueuedAt === null ? '' : sentence` the oldest for ${{ since: oldestEnqueuedAt }},`;
  const ready = sentence`${counted(counts.enqueued, 'job is', 'jobs are')} ready,${oldest}`;
  if (blocker !== null) {
    const text = sentence`${ready} ${blocker.reason}. ${blocker.remedy}`;
    return { badge: blockerBadges[blocker.kind], text, tone: blocker.tone };
  }
  if (oldestEnqueuedAt === null) {
    const blocked = counted(counts.enqueued, 'job is', 'jobs are');
    const text = sentence`${blocked} blocked by concurrency keys: each becomes ready when another job with its key ends.`;
    return { badge: blockerBadges.limit, text, tone: 'calm' };
  }
  const { slots, free } = slotsOf(consumers);
  const text = sentence`${ready} and ${formatNumber(free)} of ${counted(slots, 'slot')} are free.`;
  return { badge: counts.processing > 0 ? running : starting, text, tone: 'calm' };
}

function withoutReadyJobs(
  { counts, pausedAt }: Queue,
  consumers: readonly Server[],
  blocker: Blocker | null,
): QueueStatus {
  if (pausedAt !== null) {
    const text = sentence`It was paused ${{ at: pausedAt }}. Nothing starts until it is resumed. Running jobs continue.`;
    return { badge: blockerBadges.paused, text, tone: 'attention' };
  }
  const later = counts.scheduled + counts.awaiting;
  if ((blocker?.kind === 'unserved' || blocker?.kind === 'quiet') && later > 0) {
    const waiting = counted(later, 'job waits', 'jobs wait');
    const text = sentence`${waiting} for a time or for other jobs, ${blocker.reason}. ${blocker.remedy}`;
    return { badge: blockerBadges[blocker.kind], text, tone: 'attention' };
  }
  const { length } = activeAmong(consumers);
  const taken = length === 0 ? 'No server takes' : counted(length, 'server takes', 'servers take');
  const text = sentence`No job is ready. ${taken} jobs from this queue.`;
  const without = later === 0 ? empty : idle;
  return { badge: counts.processing > 0 ? running : without, text, tone: 'calm' };
}
