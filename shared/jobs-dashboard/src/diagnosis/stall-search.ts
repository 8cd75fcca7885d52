import type { Job } from '@longshore/jobs';
import { type Stall, stallOf, type QueueSurroundings } from './stall.js';
import type { PageContext } from '../pages/page.js';
import { findJobs } from '../reading/found-jobs.js';

/** How many jobs are examined to explain why a batch is stalled. */
const SAMPLE = 100;

export interface FoundStall {
  /** `null` if a job is running or may start, or if no unfinished job is left. */
  readonly stall: Stall | null;
  /** Whether the search for the batch's jobs has not ended yet, so that the reason is unknown. */
  readonly partial: boolean;
}

/** Finds out why an unfinished batch is stalled. */
export async function findBatchStall(id: string, context: PageContext): Promise<FoundStall> {
  const seek = (state: readonly Job['state'][], limit: number) =>
    findJobs(
      {
        key: JSON.stringify(['batch', id, state]),
        query: { filter: { batchId: [id], state }, order: 'oldest', limit },
        row: (job) => ({ id: job.id, queue: job.queue, state: job.state }),
      },
      context,
    );
  const [running, waiting, around] = await Promise.all([
    seek(['processing'], 1),
    seek(['enqueued', 'scheduled'], SAMPLE),
    readSurroundings(context),
  ]);
  if (running.jobs.length > 0) return { stall: null, partial: false };
  if (running.partial || waiting.partial) return { stall: null, partial: true };
  const more = waiting.jobs.length === SAMPLE;
  return { stall: stallOf(waiting.jobs, around, 'batch', more), partial: false };
}

/** Finds out why a job that another one waits for does not start. */
export async function findJobStall(job: Job, context: PageContext): Promise<Stall | null> {
  if (job.state !== 'enqueued' && job.state !== 'scheduled') return null;
  return stallOf([job], await readSurroundings(context), 'job');
}

async function readSurroundings({ reader, now }: PageContext): Promise<QueueSurroundings> {
  const [queues, servers] = await Promise.all([reader.queues.list(), reader.servers.list()]);
  return { queues, servers, nowMs: now() };
}
