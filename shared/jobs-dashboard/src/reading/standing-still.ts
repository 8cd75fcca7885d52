import type { Job } from '@longshore/jobs';
import { type Standstill, standstillOf, type Whereabouts } from '../diagnosis/standstill.js';
import type { PageContext } from '../pages/page.js';
import { seekJobs } from './found-jobs.js';

/** So many jobs are looked at to tell why a batch stands still. */
const SAMPLE = 100;

export interface FoundStandstill {
  /** `null` if a job runs or may start, or none is left that could. */
  readonly standstill: Standstill | null;
  /** Its jobs are still being sought. */
  readonly partial: boolean;
}

/** Why no job of an unfinished batch goes on. */
export async function findStandstillOfBatch(id: string, context: PageContext): Promise<FoundStandstill> {
  const seek = (state: readonly Job['state'][], limit: number) =>
    seekJobs(
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
    readWhereabouts(context),
  ]);
  if (running.jobs.length > 0) return { standstill: null, partial: false };
  if (running.partial || waiting.partial) return { standstill: null, partial: true };
  const more = waiting.jobs.length === SAMPLE;
  return { standstill: standstillOf(waiting.jobs, around, 'batch', more), partial: false };
}

/** Why a job that another one waits for does not start. */
export async function findStandstillOfJob(job: Job, context: PageContext): Promise<Standstill | null> {
  if (job.state !== 'enqueued' && job.state !== 'scheduled') return null;
  return standstillOf([job], await readWhereabouts(context), 'job');
}

async function readWhereabouts({ reader, now }: PageContext): Promise<Whereabouts> {
  const [queues, servers] = await Promise.all([reader.queues.list(), reader.servers.list()]);
  return { queues, servers, nowMs: now() };
}
