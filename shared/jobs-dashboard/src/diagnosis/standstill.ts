import type { Job } from '@longshore/jobs';
import type { Queue, Server } from '@longshore/jobs/storage';
import { counted, formatNumber } from '../format/count.js';
import { type Sentence, told } from '../format/sentence.js';
import type { Look } from '../format/state-look.js';
import { type Obstacle, obstacleTo } from './obstacle.js';
import { obstacleLooks } from './queue-verdict.js';
import { takersAmong } from './takers.js';

/** Why jobs that something waits for do not start, by the words of their queues' pages. */
export interface Standstill {
  readonly look: Look;
  /** “None of its jobs runs: 5 wait, but no running server …”, or for a single job “That job waits, but …”. */
  readonly text: Sentence;
}

export type WaitingJob = Pick<Job, 'queue' | 'state'>;

/** Where they stand, and what is around them. */
export interface Whereabouts {
  readonly queues: readonly Queue[];
  /** Every running server. */
  readonly servers: readonly Server[];
  readonly nowMs: number;
}

/** What keeps so many of them. */
interface Stop {
  readonly obstacle: Obstacle;
  readonly count: number;
}

const MOST_QUEUES = 3;

/**
 * `null` if one of them may start without anybody's doing.
 *
 * @param jobs that are enqueued or scheduled; none of those that belong to them runs
 * @param kind what they are: a batch's, or one by itself
 * @param more whether there are more of them
 */
export function standstillOf(
  jobs: readonly WaitingJob[],
  { queues, servers, nowMs }: Whereabouts,
  kind: 'batch' | 'job',
  more = false,
): Standstill | null {
  const takersOf = takersAmong(servers);
  const stops: Stop[] = [];
  for (const name of new Set(jobs.map(({ queue }) => queue))) {
    const queue = queues.find((candidate) => candidate.name === name);
    const waiting = jobs.filter((job) => job.queue === name);
    const obstacle = queue === undefined ? null : obstacleTo(queue, takersOf(name), nowMs);
    if (obstacle === null || !holds(obstacle, waiting)) return null;
    stops.push({ obstacle, count: waiting.length });
  }
  const shown = stops.toSorted((a, b) => b.count - a.count).slice(0, MOST_QUEUES);
  const [first] = shown;
  if (first === undefined) return null;
  const { kind: obstacle, reason, remedy } = first.obstacle;
  const look = obstacleLooks[obstacle];
  if (kind === 'job') return { look, text: told`That job waits, ${reason}. ${remedy}` };
  return { look, text: told`None of its jobs runs:${shown.flatMap((stop) => partOf(stop, more))}` };
}

function partOf({ obstacle: { reason, remedy }, count }: Stop, more: boolean): Sentence {
  const waiting = more ? `${formatNumber(count)} or more wait` : counted(count, 'waits', 'wait');
  return told` ${waiting}, ${reason}. ${remedy}`;
}

/** What is scheduled may be due before a queue that stands still has to be looked at. */
function holds({ kind, tone }: Obstacle, jobs: readonly WaitingJob[]): boolean {
  if (tone !== 'attention') return false;
  return kind !== 'stuck' || jobs.some(({ state }) => state === 'enqueued');
}
