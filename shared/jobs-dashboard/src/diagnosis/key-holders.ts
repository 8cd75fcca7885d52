import type { Job } from '@longshore/jobs';
import type { BlockingKey } from '@longshore/jobs/storage';
import type { DashboardReader } from '../reading/dashboard-reader.js';
import { MAX_OCCUPANTS } from './blocking-keys.js';

/** A job that is ready or running with a concurrency key, so that it blocks others. */
export type KeyHolder = Pick<Job, 'id' | 'name'>;

/**
 * Returns some of the jobs that hold the concurrency key of a blocked job, running ones first; none if the job is not blocked.
 *
 * @param blocking what is known of the key, if a key blocks the job
 */
export async function readKeyHolders(
  { state, readyAt, queue, concurrencyKey }: Job,
  blocking: BlockingKey | null | undefined,
  { jobs }: Pick<DashboardReader, 'jobs'>,
): Promise<KeyHolder[]> {
  if (state !== 'enqueued' || readyAt !== null || concurrencyKey === null) return [];
  const occupants = blocking?.details?.occupants;
  if (occupants !== undefined) return occupants.slice(0, MAX_OCCUPANTS).map(holderOf);
  // Storages describe only the keys that block the most jobs.
  const filter = { queue: [queue], concurrencyKey: [concurrencyKey], state: ['processing'] } as const;
  const running = await jobs.listBrief({ filter, order: 'oldest', limit: MAX_OCCUPANTS, reach: 'near' });
  return running.jobs.map(holderOf);
}

function holderOf({ id, name }: KeyHolder): KeyHolder {
  return { id, name };
}
