import type { BlockingKeys, Queue, Server } from '@longshore/jobs/storage';
import { type Sentence, sentence } from '../format/sentence.js';
import { keysOf, type ReadyJobs, readyJobs, readyText } from './blocking-keys.js';
import { type Blocker, findBlocker } from './blocker.js';
import { groupByQueue } from './servers.js';
import { pausedIn, type PausedJobs } from './pause.js';
import type { Warning } from './warning.js';

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
  if (blocker?.tone !== 'attention' && waitedMs < LONG_WAIT_MS) return null;
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
  const [first, ...others] = waits.toSorted((one, other) => one.since.getTime() - other.since.getTime());
  if (first === undefined) throw new Error('A cause has at least one queue');
  const { queue, since, blocker, subject } = first;
  const ready = {
    count: waits.reduce((sum, wait) => sum + wait.ready.count, 0),
    isExact: waits.every((wait) => wait.ready.isExact),
  };
  const reason: Sentence | string = blocker === null ? '' : sentence`, ${blocker.reason}`;
  const isOne = others.length === 0;
  const [stalled, lags] = isOne ? ['is stalled', 'lags'] : ['are stalled', 'lag'];
  return {
    cause,
    subject,
    isMeasured: true,
    text: sentence`${namesOf(queue, others)} ${blocker?.tone === 'attention' ? stalled : lags}: ${isOne ? 'its' : 'their'} oldest job has been ready for ${{ since }}${reason}.`,
    advice: `${readyText(ready)}. ${blocker?.remedy ?? 'Add servers, or check what keeps them busy.'}`,
    link: isOne ? `queues/${encodeURIComponent(queue.name)}` : 'queues?sort=wait',
  };
}

/** Returns the subject of a sentence: `Queue “a”`, or `Queues “a”, “b” and 6 others`. */
function namesOf(first: Queue, others: readonly LongWait[]): string {
  if (others.length === 0) return `Queue “${first.name}”`;
  const names = [first.name, ...others.map(({ queue }) => queue.name)].map((name) => `“${name}”`);
  if (names.length <= MAX_NAMES + 1) return `Queues ${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
  return `Queues ${names.slice(0, MAX_NAMES).join(', ')} and ${names.length - MAX_NAMES} others`;
}
