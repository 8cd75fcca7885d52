import type { PausedType, Queue, Server } from '@longshore/jobs/storage';
import { counted, formatNumber } from '../format/count.js';
import { formatDuration } from '../format/time.js';
import { type Sentence, sentence } from '../format/sentence.js';
import { activeAmong, isSilent } from './servers.js';
import { pauseEnd, pauseText } from './pause.js';

/** The reason why a queue's next ready job does not start. */
export interface Blocker {
  readonly kind:
    'paused' | 'unserved' | 'quiet' | 'silent' | 'limit' | 'busy' | 'rate' | 'paused-type' | 'stuck';
  /** Continues a sentence such as “13 jobs are ready,”. */
  readonly reason: Sentence;
  /** A sentence that says what happens next or what to do. */
  readonly remedy: string;
  /** `attention` if an operator has to act; `calm` otherwise. */
  readonly tone: 'calm' | 'attention';
  /** The queue whose jobs occupy the servers; missing if the blocker is not another queue. */
  readonly occupant?: string;
}

/** Optional input of {@link findBlocker}. */
export interface BlockerContext {
  /** All queues, because jobs of another queue can occupy the consumers. Defaults to none. */
  readonly queues?: readonly Queue[];
  /** The paused job types that have jobs waiting in the queue. Defaults to none. */
  readonly pausedJobs?: readonly PausedType[];
}

/**
 * A queue is stuck if its oldest job has been ready for longer than this, in milliseconds, without any other blocker.
 */
const STUCK_MS = 30_000;

/**
 * Returns the blocker of a queue's ready jobs; `null` if nothing is known to stop the next job. A blocker that stops
 * the whole queue takes precedence over others.
 *
 * The dashboard cannot tell whether the rate limit currently allows another job. The rate limit is therefore returned
 * only if neither the concurrency limit nor a lack of free slots explains the wait.
 *
 * @param consumers the running servers that consume the queue
 */
export function findBlocker(
  queue: Queue,
  consumers: readonly Server[],
  nowMs: number,
  context: BlockerContext = {},
): Blocker | null {
  return blockerOfQueue(queue, consumers, nowMs) ?? blockerOfNextJob(queue, consumers, nowMs, context);
}

/** Returns a blocker that stops the whole queue: a pause, or a lack of working servers; `null` if there is none. */
export function blockerOfQueue(
  { name, ...pause }: Queue,
  consumers: readonly Server[],
  nowMs: number,
): Blocker | null {
  const paused = pauseText(pause);
  if (paused !== null) {
    const reason = sentence`but queue “${name}” was ${paused}`;
    return attention('paused', reason, pauseEnd(pause, 'Nothing starts until the queue is resumed.'));
  }
  if (consumers.length === 0) {
    const reason = sentence`but no running server takes jobs from queue “${name}”`;
    return attention('unserved', reason, 'Start one that does.');
  }
  const open = activeAmong(consumers);
  const [consumer] = open;
  if (consumer === undefined) {
    const reason = sentence`but ${allOf(consumers)} jobs from queue “${name}” ${consumers.length === 1 ? 'has' : 'have'} been asked to take no more`;
    return attention('quiet', reason, 'Start another one, or restart it.');
  }
  if (open.every((server) => isSilent(server, nowMs))) {
    const reason = sentence`but ${allOf(open)} jobs from queue “${name}” ${open.length === 1 ? 'is' : 'are'} silent: last heartbeat ${{ at: consumer.heartbeatAt }}`;
    return attention('silent', reason, `Declared dead after ${formatDuration(consumer.timeoutMs)}.`);
  }
  return null;
}

function allOf({ length }: readonly Server[]): string {
  return length === 1 ? 'the only server that takes' : `all ${formatNumber(length)} servers that take`;
}

/**
 * Returns a blocker of the next job, such as a limit or busy servers, or `stuck` if a long wait has no known reason.
 * Returns `null` if nothing is known to stop the job.
 */
function blockerOfNextJob(
  queue: Queue,
  consumers: readonly Server[],
  nowMs: number,
  { queues = [], pausedJobs = [] }: BlockerContext,
): Blocker | null {
  const { name, concurrencyLimit, rateLimit, oldestEnqueuedAt, counts } = queue;
  if (concurrencyLimit !== null && counts.processing >= concurrencyLimit) {
    const limit = counted(concurrencyLimit, 'job');
    const reason = sentence`but queue “${name}” is at its limit of ${limit} at once`;
    return calm('limit', reason, 'The next one starts when one of them ends.');
  }
  const { slots, free } = slotsOf(consumers, counts.processing);
  const occupant = findOccupant(queue, consumers, queues);
  if (occupant !== null && slots > 0 && (free === 0 || occupant.counts.processing >= slots)) {
    const open = activeAmong(consumers);
    const first = open.every((server) => isServedFirst(occupant.name, name, server));
    const running = `${formatNumber(Math.min(occupant.counts.processing, slots))} of ${counted(slots, 'slot')}`;
    const preferred = first
      ? `, which ${open.length === 1 ? 'this server serves' : 'these servers serve'} first`
      : '';
    const reason = sentence`but ${running} ${slots === 1 ? 'is' : 'are'} running “${occupant.name}”${preferred}`;
    const remedy =
      'The next job starts when a slot is free. Add servers or slots, or serve this queue first.';
    return { ...calm('busy', reason, remedy), occupant: occupant.name };
  }
  if (free === 0) return allBusy(name, consumers);
  const waitedMs = oldestEnqueuedAt === null ? 0 : nowMs - oldestEnqueuedAt.getTime();
  if (rateLimit !== null && waitedMs >= 1_000) {
    const rate = `${counted(rateLimit.jobs, 'job')} in ${formatDuration(rateLimit.periodMs)}`;
    return calm(
      'rate',
      sentence`but queue “${name}” starts at most ${rate}`,
      'The next one waits for its turn.',
    );
  }
  const [type] = pausedJobs;
  // The time before the first active consumer started does not count as waiting.
  const servedMs = Math.max(...activeAmong(consumers).map(({ startedAt }) => nowMs - startedAt.getTime()));
  if (Math.min(waitedMs, servedMs) < STUCK_MS) return null;
  if (type !== undefined) return pausedTypeBlocker(type);
  // A queue with running jobs does not count as stuck, because slots that were free at the last heartbeats can be busy
  // by now.
  if (counts.processing > 0) return null;
  const reason = sentence`although ${formatNumber(free)} of ${counted(slots, 'slot')} ${free === 1 ? 'is' : 'are'} free and no limit of queue “${name}” holds them back`;
  return attention(
    'stuck',
    reason,
    'Check the server logs and, if they say nothing, what statements wait for in the database (pg_stat_activity).',
  );
}

function allBusy(name: string, consumers: readonly Server[]): Blocker {
  const { length } = activeAmong(consumers);
  const { slots } = slotsOf(consumers);
  const where = length === 1 ? 'the one server that takes' : `the ${formatNumber(length)} servers that take`;
  const reason = sentence`but all ${counted(slots, 'slot')} are busy on ${where} jobs from queue “${name}”`;
  return calm('busy', reason, 'The next one starts when a slot is free.');
}

export function pausedTypeBlocker({ name, ...pause }: PausedType): Blocker {
  const reason = sentence`but job type “${name}” was ${pauseText(pause) ?? ''}`;
  return attention('paused-type', reason, 'Its jobs do not start until the type is resumed.');
}

/**
 * Returns the queue with the most running jobs among the other queues that these consumers serve; `null` if none of
 * them has more running jobs than this queue.
 */
function findOccupant({ name }: Queue, consumers: readonly Server[], queues: readonly Queue[]): Queue | null {
  const served = new Set(activeAmong(consumers).flatMap((server) => server.queues));
  const ownRunning = queues.find((queue) => queue.name === name)?.counts.processing ?? 0;
  const [most = null] = queues
    .filter((queue) => queue.name !== name && served.has(queue.name) && queue.counts.processing > ownRunning)
    .toSorted((one, other) => other.counts.processing - one.counts.processing);
  return most;
}

function isServedFirst(queue: string, other: string, { queues, queueWeights }: Server): boolean {
  const rank = queues.indexOf(queue);
  return queueWeights === null && rank >= 0 && rank < queues.indexOf(other);
}

/**
 * Returns the number of slots on the active servers, and an estimate of how many of the slots are free.
 *
 * @param running number of the queue's running jobs, which is more recent than the free slots in the last heartbeats
 */
export function slotsOf(consumers: readonly Server[], running = 0): { slots: number; free: number } {
  const open = activeAmong(consumers);
  const slots = open.reduce((sum, { concurrency }) => sum + concurrency, 0);
  const free = open.reduce(
    (sum, { concurrency, processing }) => sum + Math.max(0, concurrency - processing),
    0,
  );
  return { slots, free: Math.max(0, Math.min(free, slots - running)) };
}

type Named = (kind: Blocker['kind'], reason: Sentence, remedy: string) => Blocker;
const calm: Named = (kind, reason, remedy) => ({ kind, reason, remedy, tone: 'calm' });
const attention: Named = (kind, reason, remedy) => ({ kind, reason, remedy, tone: 'attention' });
