import type { Queue, Server } from '@longshore/jobs/storage';
import { counted, formatNumber } from '../format/count.js';
import { formatDuration } from '../format/duration.js';
import { type Sentence, told } from '../format/sentence.js';
import { isSilent, openAmong } from './takers.js';

/** What keeps the next ready job of a queue from starting. */
export interface Obstacle {
  readonly kind: 'paused' | 'unserved' | 'quiet' | 'silent' | 'limit' | 'busy' | 'rate' | 'stuck';
  /** Goes on after “13 jobs are ready,”. */
  readonly reason: Sentence;
  /** What lets the next job start: a sentence. */
  readonly remedy: string;
  /** `attention`: it will not go away by itself. */
  readonly tone: 'calm' | 'attention';
}

/** A job that is ready for so many milliseconds, with nothing in its way, should have started. */
const STUCK_MS = 10_000;

/**
 * What is in the way of a queue's ready jobs: the first reason that holds, those first that no server can do anything about.
 * `null`: nothing, the next one should start at once.
 *
 * Whether the rate limit has a token left is not known here; it is named where no other reason is left.
 *
 * @param takers the running servers that take jobs from the queue
 */
export function obstacleTo(queue: Queue, takers: readonly Server[], nowMs: number): Obstacle | null {
  return cutOff(queue, takers, nowMs) ?? held(queue, takers, nowMs);
}

/** No job of the queue can start, whatever ends. */
function cutOff({ name, pausedAt }: Queue, takers: readonly Server[], nowMs: number): Obstacle | null {
  if (pausedAt !== null) {
    const reason = told`but queue “${name}” was paused ${{ at: pausedAt }}`;
    return attention('paused', reason, 'Nothing starts until somebody resumes the queue.');
  }
  if (takers.length === 0) {
    const reason = told`but no running server takes jobs from queue “${name}”`;
    return attention('unserved', reason, 'Start one that does.');
  }
  const open = openAmong(takers);
  const [taker] = open;
  if (taker === undefined) {
    const reason = told`but ${allOf(takers)} jobs from queue “${name}” ${takers.length === 1 ? 'has' : 'have'} been told to take no more`;
    return attention('quiet', reason, 'Start another one, or start it again.');
  }
  if (open.every((server) => isSilent(server, nowMs))) {
    const reason = told`but ${allOf(open)} jobs from queue “${name}” ${open.length === 1 ? 'has' : 'have'} sent no heartbeat for ${{ since: taker.heartbeatAt }}`;
    return attention('silent', reason, `It counts as dead after ${formatDuration(taker.timeoutMs)}.`);
  }
  return null;
}

function allOf({ length }: readonly Server[]): string {
  return length === 1 ? 'the only server that takes' : `all ${formatNumber(length)} servers that take`;
}

/** The next job starts when something else has ended, or should have started. */
function held(queue: Queue, takers: readonly Server[], nowMs: number): Obstacle | null {
  const { name, concurrencyLimit, rateLimit, oldestEnqueuedAt, counts } = queue;
  if (concurrencyLimit !== null && counts.processing >= concurrencyLimit) {
    const running = `${formatNumber(counts.processing)} of ${formatNumber(concurrencyLimit)}`;
    const reason = told`but ${running} jobs that queue “${name}” may run at once are running`;
    return calm('limit', reason, 'The next one starts when one of them ends.');
  }
  const { slots, free } = slotsOf(takers);
  if (free === 0) {
    const { length } = openAmong(takers);
    const where =
      length === 1 ? 'the one server that takes' : `the ${formatNumber(length)} servers that take`;
    const reason = told`but all ${counted(slots, 'slot')} are busy on ${where} jobs from queue “${name}”`;
    return calm('busy', reason, 'The next one starts when a slot is free.');
  }
  const waitedMs = oldestEnqueuedAt === null ? 0 : nowMs - oldestEnqueuedAt.getTime();
  if (rateLimit !== null && waitedMs >= 1_000) {
    const rate = `${counted(rateLimit.jobs, 'job')} in ${formatDuration(rateLimit.periodMs)}`;
    return calm('rate', told`but queue “${name}” starts at most ${rate}`, 'The next one waits for its turn.');
  }
  // Heartbeats tell of slots a while late: a queue whose jobs are running is not stuck.
  if (waitedMs < STUCK_MS || counts.processing > 0) return null;
  const reason = told`although ${formatNumber(free)} of ${counted(slots, 'slot')} are free and no limit of queue “${name}” holds them back`;
  return attention('stuck', reason, 'See what its servers are doing, in their logs.');
}

/** How many jobs servers can run at once, and how many more of them than they ran at their last heartbeats. */
export function slotsOf(takers: readonly Server[]): { slots: number; free: number } {
  const open = openAmong(takers);
  const slots = open.reduce((sum, { concurrency }) => sum + concurrency, 0);
  const free = open.reduce(
    (sum, { concurrency, processing }) => sum + Math.max(0, concurrency - processing),
    0,
  );
  return { slots, free };
}

type Named = (kind: Obstacle['kind'], reason: Sentence, remedy: string) => Obstacle;
const calm: Named = (kind, reason, remedy) => ({ kind, reason, remedy, tone: 'calm' });
const attention: Named = (kind, reason, remedy) => ({ kind, reason, remedy, tone: 'attention' });
