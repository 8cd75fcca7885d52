import type { Job } from '@longshore/jobs';
import type { PausedType, Queue, Server } from '@longshore/jobs/storage';
import { counted, formatNumber } from '../format/count.js';
import { type Sentence, sentence } from '../format/sentence.js';
import type { Badge } from '../format/state-badge.js';
import type { ReadingContext } from '../reading/dashboard-reader.js';
import { findJobs } from '../reading/job-search.js';
import { type Blocker, findBlocker, pausedTypeBlocker } from './blocker.js';
import { blockerBadges } from './queues.js';
import { groupByQueue } from './servers.js';

/** The reason why a batch or a single job is stalled. */
export interface Stall {
  readonly badge: Badge;
  /**
   * Text such as “None of its jobs runs: 5 wait, but no running server …” for a batch, or “That job waits, but …” for a
   * single job.
   */
  readonly text: Sentence;
}

type WaitingJob = Pick<Job, 'queue' | 'state' | 'name'>;

interface SystemState {
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
    const queueBlocker =
      queue === undefined ? null : findBlocker(queue, consumersOf(name), nowMs, { queues });
    const blocker =
      paused !== undefined && queueBlocker?.tone !== 'attention' ? pausedTypeBlocker(paused) : queueBlocker;
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

/** Maximum number of a batch's jobs to examine. */
const SAMPLE = 100;

interface AwaitedRetry {
  readonly id: string;
  readonly name: string;
  readonly runAt: Date;
  /** Number of the batch's jobs that are waiting for a retry. */
  readonly jobs: number;
}

export interface FoundStall {
  /**
   * The next retry, if no job of the batch is running and all enqueued and scheduled jobs are waiting for a retry;
   * `null` otherwise. Also `null` if there are too many of these jobs to examine.
   */
  readonly retry: AwaitedRetry | null;
  /**
   * Why the batch is stalled; `null` if a job is running or can start, if no job is enqueued or scheduled, or if the
   * reason is not known yet.
   */
  readonly stall: Stall | null;
  /** Whether the search for the batch's jobs is still running. If so, the reason is not known yet. */
  readonly partial: boolean;
}

/** Determines why an unfinished batch is stalled, or which retry it is waiting for. */
export async function findBatchStall(id: string, context: ReadingContext): Promise<FoundStall> {
  const seek = (state: readonly Job['state'][], limit: number) =>
    findJobs(
      {
        key: JSON.stringify(['batch', id, state]),
        query: { filter: { batchId: [id], state }, order: 'oldest', limit },
        row: ({ id: jobId, name, queue, state: current, attempt, runAt }) => ({
          id: jobId,
          name,
          queue,
          state: current,
          attempt,
          runAt,
        }),
      },
      context,
    );
  const [running, waiting, system] = await Promise.all([
    seek(['processing'], 1),
    seek(['enqueued', 'scheduled'], SAMPLE),
    readSystemState(context),
  ]);
  if (running.jobs.length > 0) return { stall: null, retry: null, partial: false };
  if (running.partial || waiting.partial) return { stall: null, retry: null, partial: true };
  const more = waiting.jobs.length === SAMPLE;
  const retry = more ? null : awaitedRetry(waiting.jobs);
  return { stall: stallOf(waiting.jobs, system, 'batch', more), retry, partial: false };
}

type Waiting = Pick<Job, 'id' | 'name' | 'state' | 'attempt' | 'runAt'>;

/** Returns the earliest retry if all jobs are waiting for a retry; `null` otherwise. */
function awaitedRetry(jobs: readonly Waiting[]): AwaitedRetry | null {
  const retries = jobs.flatMap(({ id, name, state, attempt, runAt }) =>
    state === 'scheduled' && attempt > 0 && runAt !== null ? [{ id, name, runAt, jobs: jobs.length }] : [],
  );
  if (retries.length < jobs.length) return null;
  const [first = null] = retries.toSorted((one, other) => one.runAt.getTime() - other.runAt.getTime());
  return first;
}

/**
 * Determines why a job that others wait for does not start. Returns `null` if the job can start, or if it is neither
 * enqueued nor scheduled.
 */
export async function findJobStall(job: Job, context: ReadingContext): Promise<Stall | null> {
  if (job.state !== 'enqueued' && job.state !== 'scheduled') return null;
  return stallOf([job], await readSystemState(context), 'job');
}

async function readSystemState({ reader, now }: ReadingContext): Promise<SystemState> {
  const [queues, servers, pausedTypes] = await Promise.all([
    reader.queues.list(),
    reader.servers.list(),
    reader.jobTypes.listPaused(),
  ]);
  return { queues, servers, pausedTypes, nowMs: now() };
}
