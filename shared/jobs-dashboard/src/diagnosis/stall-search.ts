import type { Job } from '@longshore/jobs';
import { type Stall, stallOf, type SystemState } from './stall.js';
import type { ReadingContext } from '../reading/dashboard-reader.js';
import { findJobs } from '../reading/found-jobs.js';

/** Maximum number of a batch's jobs to examine. */
const SAMPLE = 100;

/** The next retry that an unfinished batch is waiting for. */
export interface AwaitedRetry {
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
  const [running, waiting, around] = await Promise.all([
    seek(['processing'], 1),
    seek(['enqueued', 'scheduled'], SAMPLE),
    readSystemState(context),
  ]);
  if (running.jobs.length > 0) return { stall: null, retry: null, partial: false };
  if (running.partial || waiting.partial) return { stall: null, retry: null, partial: true };
  const more = waiting.jobs.length === SAMPLE;
  const retry = more ? null : awaitedRetry(waiting.jobs);
  return { stall: stallOf(waiting.jobs, around, 'batch', more), retry, partial: false };
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
