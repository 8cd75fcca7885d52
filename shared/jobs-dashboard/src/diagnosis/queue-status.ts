import type { BlockingKeys, Queue, Server } from '@longshore/jobs/storage';
import { counted, formatNumber } from '../format/count.js';
import { type Sentence, sentence } from '../format/sentence.js';
import type { Badge } from '../format/state-badge.js';
import { blockedSentence, noBlockingKeys, readyJobs, readyText } from './blocking-keys.js';
import { type Blocker, type BlockerContext, blockerOfQueue, findBlocker, slotsOf } from './blocker.js';
import { pauseEnd, pauseText } from './pause.js';
import { activeAmong } from './servers.js';

interface QueueStatus {
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
  'paused-type': { icon: 'pause', word: 'Job type paused', tone: 'lost' },
  stuck: { icon: 'alert', word: 'Stuck', tone: 'failed' },
};
const blockedByKeys: Badge = { icon: 'half', word: 'Blocked by keys', tone: 'processing' };
const running: Badge = { icon: 'half', word: 'Running', tone: 'processing' };
const starting: Badge = { icon: 'stack', word: 'About to start', tone: 'enqueued' };
const empty: Badge = { icon: 'check', word: 'Queue is empty', tone: 'done' };
const idle: Badge = { icon: 'clock', word: 'No jobs ready', tone: 'done' };

interface StatusContext extends BlockerContext {
  /** The concurrency keys that block jobs of the queue. */
  readonly blocking?: BlockingKeys;
}

/** @param consumers the running servers that consume the queue */
export function queueStatus(
  queue: Queue,
  consumers: readonly Server[],
  nowMs: number,
  { blocking = noBlockingKeys, ...context }: StatusContext = {},
): QueueStatus {
  const { counts, oldestEnqueuedAt } = queue;
  const blocker = findBlocker(queue, consumers, nowMs, context);
  if (counts.enqueued === 0) return withoutReadyJobs(queue, consumers, blocker);
  const waiting = readyJobs(queue, blocking);
  if (waiting.count === 0) return allBlocked(blocking, blockerOfQueue(queue, consumers, nowMs));
  const oldest = oldestEnqueuedAt === null ? '' : sentence` the oldest for ${{ since: oldestEnqueuedAt }},`;
  const ready = sentence`${readyText(waiting)},${oldest}`;
  const blocked = blocking.keys.length === 0 ? '' : sentence` ${blockedSentence(blocking)}`;
  if (blocker !== null) {
    const text = sentence`${ready} ${blocker.reason}. ${blocker.remedy}${blocked}`;
    return { badge: blockerBadges[blocker.kind], text, tone: blocker.tone };
  }
  const { slots, free } = slotsOf(consumers, counts.processing);
  const text = sentence`${ready} and ${formatNumber(free)} of ${counted(slots, 'slot')} ${free === 1 ? 'is' : 'are'} free.${blocked}`;
  return { badge: counts.processing > 0 ? running : starting, text, tone: 'calm' };
}

/** Returns the status of a queue whose waiting jobs are all blocked by concurrency keys. */
function allBlocked(blocking: BlockingKeys, blocker: Blocker | null): QueueStatus {
  const each = sentence`${blockedSentence(blocking)} The next one becomes ready when a job with its key ends.`;
  if (blocker === null) return { badge: blockedByKeys, text: each, tone: 'calm' };
  const text = sentence`No other job is ready, ${blocker.reason}. ${blocker.remedy} ${blockedSentence(blocking)}`;
  return { badge: blockerBadges[blocker.kind], text, tone: blocker.tone };
}

function withoutReadyJobs(
  { counts, ...pause }: Queue,
  consumers: readonly Server[],
  blocker: Blocker | null,
): QueueStatus {
  const paused = pauseText(pause);
  if (paused !== null) {
    const text = sentence`It was ${paused}. ${pauseEnd(pause, 'Nothing starts until it is resumed.')} Running jobs continue.`;
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
