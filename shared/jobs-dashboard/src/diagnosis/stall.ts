import type { Job } from '@longshore/jobs';
import type { PausedType, Queue, Server } from '@longshore/jobs/storage';
import { counted, formatNumber } from '../format/count.js';
import { type Sentence, sentence } from '../format/sentence.js';
import type { Badge } from '../format/state-badge.js';
import { type Blocker, findBlocker, pausedTypeBlocker } from './blocker.js';
import { blockerBadges } from './queue-status.js';
import { groupByQueue } from './consumers.js';

/** The reason why a batch or a single job is stalled. */
export interface Stall {
  readonly badge: Badge;
  /**
   * Text such as “None of its jobs runs: 5 wait, but no running server …” for a batch, or “That job waits, but …” for a
   * single job.
   */
  readonly text: Sentence;
}

export type WaitingJob = Pick<Job, 'queue' | 'state' | 'name'>;

/** The state of the queues, servers and job types that jobs can wait for. */
export interface SystemState {
  readonly queues: readonly Queue[];
  /** All running servers. */
  readonly servers: readonly Server[];
  readonly pausedTypes: readonly PausedType[];
  readonly nowMs: number;
}

interface Stop {
  readonly blocker: Blocker;
  readonly count: number;
}

const MAX_QUEUES = 3;

/**
 * Returns why the jobs are stalled; `null` if there are no jobs, or if at least one of them can start without an
 * operator's help.
 *
 * @param jobs enqueued or scheduled jobs; if they belong to a batch, no job of the batch may be running
 * @param kind `batch` if the jobs belong to a batch, `job` for a single job
 * @param more whether the batch has more jobs in these states
 */
export function stallOf(
  jobs: readonly WaitingJob[],
  { queues, servers, pausedTypes, nowMs }: SystemState,
  kind: 'batch' | 'job',
  more = false,
): Stall | null {
  const consumersOf = groupByQueue(servers);
  const stops: Stop[] = [];
  for (const name of new Set(jobs.map(({ queue }) => queue))) {
    const queue = queues.find((candidate) => candidate.name === name);
    const waiting = jobs.filter((job) => job.queue === name);
    const paused = pausedTypes.find((type) => waiting.every((job) => job.name === type.name));
    const found = queue === undefined ? null : findBlocker(queue, consumersOf(name), nowMs, { queues });
    const blocker = paused !== undefined && found?.tone !== 'attention' ? pausedTypeBlocker(paused) : found;
    if (blocker === null || !stopsUntilOperatorActs(blocker, waiting)) return null;
    stops.push({ blocker, count: waiting.length });
  }
  const shown = stops.toSorted((a, b) => b.count - a.count).slice(0, MAX_QUEUES);
  const [first] = shown;
  if (first === undefined) return null;
  const { kind: blocker, reason, remedy } = first.blocker;
  const badge = blockerBadges[blocker];
  if (kind === 'job') return { badge, text: sentence`That job waits, ${reason}. ${remedy}` };
  return { badge, text: sentence`None of its jobs runs:${shown.flatMap((stop) => partOf(stop, more))}` };
}

function partOf({ blocker: { reason, remedy }, count }: Stop, more: boolean): Sentence {
  const waiting = more ? `${formatNumber(count)} or more wait` : counted(count, 'waits', 'wait');
  return sentence` ${waiting}, ${reason}. ${remedy}`;
}

/**
 * Returns whether a blocker stops the jobs until an operator acts. A `stuck` queue does not stop scheduled jobs,
 * because the queue can recover before the jobs are due.
 */
function stopsUntilOperatorActs({ kind, tone }: Blocker, jobs: readonly WaitingJob[]): boolean {
  if (tone !== 'attention') return false;
  return kind !== 'stuck' || jobs.some(({ state }) => state === 'enqueued');
}
