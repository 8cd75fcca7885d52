import type { BlockingKeys, Queue, Server } from '@longshore/jobs/storage';
import { counted, formatNumber } from '../format/count.js';
import { type Sentence, sentence } from '../format/sentence.js';
import type { Badge } from '../format/state-badge.js';
import { type Blocker, type BlockerContext, blockerOfQueue, findBlocker, slotsOf } from './blocker.js';
import {
  blockedSentence,
  keysOf,
  noBlockingKeys,
  readyJobs,
  type ReadyJobs,
  readyText,
} from './blocking-keys.js';
import { pausedIn, type PausedJobs, pauseEnd, pauseText } from './pause.js';
import { activeAmong, groupByQueue } from './servers.js';
import { countFigure, type Warning } from './warning.js';

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

function allBlocked(blocking: BlockingKeys, blocker: Blocker | null): QueueStatus {
  const blockedText = sentence`${blockedSentence(blocking)} The next one becomes ready when a job with its key ends.`;
  if (blocker === null) return { badge: blockedByKeys, text: blockedText, tone: 'calm' };
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

/**
 * A queue gets a warning if its oldest job has been ready for at least this long, in milliseconds. The warning comes
 * earlier if an operator has to act.
 */
const LONG_WAIT_MS = 5 * 60_000;
/**
 * Waits shorter than this, in milliseconds, get no warning. The lists of queues and servers are read separately, so
 * they can contradict each other for a few seconds.
 */
const SETTLING_MS = 5_000;
const MAX_NAMES = 2;

interface WaitContext {
  readonly queues: readonly Queue[];
  readonly servers: readonly Server[];
  readonly blocking: BlockingKeys;
  readonly pausedJobs: readonly PausedJobs[];
  /** The queues that have a rule in place of the built-in threshold. None by default. */
  readonly ruled?: ReadonlySet<string>;
  readonly nowMs: number;
}

interface LongWait {
  readonly queue: Queue;
  readonly since: Date;
  readonly blocker: Blocker | null;
  readonly ready: ReadyJobs;
  /**
   * Identifies what the jobs wait for: a limit or the servers of the queue. Does not identify the blocker, because the
   * blocker can change whenever a slot is free for a moment between two jobs.
   */
  readonly subject: string;
}

/**
 * Returns warnings about queues with jobs that have waited too long. Queues that wait for the same reason share a
 * warning.
 */
export function longWaits(context: WaitContext): Warning[] {
  const consumersOf = groupByQueue(context.servers);
  const byCause = new Map<string, LongWait[]>();
  for (const queue of context.queues) {
    const consumers = consumersOf(queue.name);
    const wait = waitOf(queue, consumers, context);
    if (wait === null) continue;
    const cause = causeOf(wait, consumers);
    byCause.set(cause, [...(byCause.get(cause) ?? []), wait]);
  }
  return [...byCause].map(([cause, waits]) => warningOf(cause, waits));
}

function waitOf(queue: Queue, consumers: readonly Server[], context: WaitContext): LongWait | null {
  const { queues, blocking, pausedJobs, nowMs } = context;
  const { oldestEnqueuedAt: since } = queue;
  if (queue.servers === 0 || queue.pausedAt !== null || since === null) return null;
  const waitedMs = nowMs - since.getTime();
  if (waitedMs < SETTLING_MS) return null;
  const blocker = findBlocker(queue, consumers, nowMs, {
    queues,
    pausedJobs: pausedIn(queue.name, pausedJobs),
  });
  // Omits paused types and silent servers, because they have their own warnings.
  if (blocker?.kind === 'paused-type' || blocker?.kind === 'silent') return null;
  const isLong = waitedMs >= LONG_WAIT_MS && context.ruled?.has(queue.name) !== true;
  if (blocker?.tone !== 'attention' && !isLong) return null;
  const ready = readyJobs(queue, keysOf(queue.name, blocking));
  return { queue, since, blocker, ready, subject: subjectOf(queue, blocker, consumers) };
}

/**
 * Returns the cause of a wait: a limit of the queue, the jobs of another queue, or the servers. Identifies servers by
 * their queues instead of their ids, because a restart changes the ids without ending the wait.
 */
function causeOf({ queue, blocker }: LongWait, consumers: readonly Server[]): string {
  if (blocker?.occupant !== undefined) return `jobs of queue ${blocker.occupant} occupy the servers`;
  if (blocker?.kind === 'limit' || blocker?.kind === 'rate') return `jobs of queue ${queue.name} wait`;
  const servers = new Set(consumers.map(({ queues }) => queues.join(', ')));
  return `jobs wait: ${blocker?.kind ?? 'backlog'}, servers of ${[...servers].toSorted().join(' | ')}`;
}

function subjectOf({ name }: Queue, blocker: Blocker | null, consumers: readonly Server[]): string {
  if (blocker?.kind === 'limit' || blocker?.kind === 'rate')
    return `jobs of queue ${name} wait for its limit`;
  const queues = new Set(consumers.flatMap((server) => server.queues));
  return `jobs wait for the servers of ${[...queues].toSorted().join(', ')}`;
}

function warningOf(cause: string, waits: readonly LongWait[]): Warning {
  const [first, ...laterWaits] = waits.toSorted((one, other) => one.since.getTime() - other.since.getTime());
  if (first === undefined) throw new Error('A cause has at least one queue');
  const { queue, since, blocker, subject } = first;
  const ready = {
    count: waits.reduce((sum, wait) => sum + wait.ready.count, 0),
    isExact: waits.every((wait) => wait.ready.isExact),
  };
  const reason: Sentence | string = blocker === null ? '' : sentence`, ${blocker.reason}`;
  const isOne = laterWaits.length === 0;
  const [stalled, lags] = isOne ? ['is stalled', 'lags'] : ['are stalled', 'lag'];
  return {
    kind: 'queue-lags',
    cause,
    subject,
    since,
    isMeasured: true,
    figure: { value: [{ since }], label: 'oldest ready job' },
    text: sentence`${namesOf(queue, laterWaits)} ${blocker?.tone === 'attention' ? stalled : lags}: ${isOne ? 'its' : 'their'} oldest job has been ready for ${{ since }}${reason}.`,
    advice: `${readyText(ready)}. ${blocker?.remedy ?? 'Add servers, or check what keeps them busy.'}`,
    link: isOne ? `queues/${encodeURIComponent(queue.name)}` : 'queues?sort=wait',
  };
}

/** Returns the subject of a sentence: `Queue “a”`, or `Queues “a”, “b” and 6 others`. */
function namesOf(first: Queue, laterWaits: readonly LongWait[]): string {
  if (laterWaits.length === 0) return `Queue “${first.name}”`;
  const names = [first.name, ...laterWaits.map(({ queue }) => queue.name)].map((name) => `“${name}”`);
  if (names.length <= MAX_NAMES + 1) return `Queues ${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
  return `Queues ${names.slice(0, MAX_NAMES).join(', ')} and ${names.length - MAX_NAMES} others`;
}

export function pausedQueues(queues: readonly Queue[], blocking: BlockingKeys): Warning[] {
  return queues.flatMap((queue) => {
    const { name } = queue;
    const paused = pauseText(queue);
    if (paused === null || queue.counts.enqueued === 0) return [];
    const ready = readyJobs(queue, keysOf(name, blocking));
    return [
      {
        kind: 'queue-paused',
        cause: `queue ${name} is paused`,
        figure: countFigure(ready.count, 'job is ready', 'jobs are ready', ready.isExact ? '' : '≤ '),
        ...(queue.pausedAt !== null && { since: queue.pausedAt }),
        button: { path: `queues/${encodeURIComponent(name)}/resume`, word: 'Resume the queue' },
        text: sentence`Queue “${name}” was ${paused}.`,
        advice: `${readyText(ready)} there. ${pauseEnd(queue, 'Resume it to let them run.')}`,
        link: `queues/${encodeURIComponent(name)}`,
      },
    ];
  });
}

/**
 * Returns warnings about queues that have jobs but no server, paused or not. Returns none if no server is running at all,
 * because that has its own warning.
 */
export function unservedQueues(queues: readonly Queue[], servers: readonly Server[]): Warning[] {
  if (servers.length === 0) return [];
  return queues
    .filter((queue) => queue.servers === 0 && unfinished(queue) > 0)
    .map((queue) => ({
      kind: 'queue-unserved',
      cause: `no server consumes queue ${queue.name}`,
      isMeasured: true,
      text: sentence`No server consumes queue “${queue.name}”.`,
      figure: countFigure(unfinished(queue), 'job waits', 'jobs wait'),
      advice: `${counted(unfinished(queue), 'job waits', 'jobs wait')} there. Start a server that consumes this queue.`,
      link: `queues/${encodeURIComponent(queue.name)}`,
    }));
}

function unfinished({ counts }: Queue): number {
  return counts.enqueued + counts.scheduled + counts.awaiting;
}
