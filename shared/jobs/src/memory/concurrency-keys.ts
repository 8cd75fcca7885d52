import type { JobRecord } from './job-record.js';
import { ReadyQueue } from './ready-queue.js';

interface KeyRecord {
  /** The ready and running jobs with this key. Each one occupies a slot of the key. */
  readonly occupants: Set<JobRecord>;
  readonly blocked: ReadyQueue;
}

/** The concurrency semaphores of one queue. Tracks for each key which jobs occupy slots and which jobs are blocked. */
export class ConcurrencyKeys {
  readonly #keys = new Map<string, KeyRecord>();

  /**
   * Requests a slot for a job, so that the job can become ready. Returns the jobs that become ready now; if this job is
   * not among them, it is blocked. A job without a concurrency key needs no slot.
   */
  acquire(job: JobRecord): JobRecord[] {
    const name = job.meta?.concurrencyKey;
    if (name === undefined) return [job];
    let key = this.#keys.get(name);
    if (key === undefined) this.#keys.set(name, (key = { occupants: new Set(), blocked: new ReadyQueue() }));
    if (key.occupants.has(job)) return [job]; // a released job, for example, keeps its slot
    key.blocked.add(job);
    job.blocked = true;
    return unblock(key);
  }

  /**
   * Frees the slot of a job that is no longer ready or running; does nothing if the job has no slot. Returns the
   * blocked jobs that become ready now.
   */
  release(job: JobRecord): JobRecord[] {
    const name = job.meta?.concurrencyKey;
    const key = name === undefined ? undefined : this.#keys.get(name);
    if (name === undefined || !key?.occupants.delete(job)) return [];
    const unblocked = unblock(key);
    if (key.occupants.size === 0 && key.blocked.length === 0) this.#keys.delete(name);
    return unblocked;
  }

  /** Returns each key that blocks jobs, with its blocked jobs in run order and the jobs in its slots. */
  blocking(): { readonly key: string; readonly blocked: JobRecord[]; readonly occupants: JobRecord[] }[] {
    return [...this.#keys]
      .filter(([, { blocked }]) => blocked.length > 0)
      .map(([key, { blocked, occupants }]) => ({ key, blocked: blocked.list(), occupants: [...occupants] }));
  }

  /** Removes a blocked job from its key. Returns `false` if the job has a slot or the key is unknown. */
  removeBlocked(job: JobRecord): boolean {
    const key = this.#keys.get(job.meta?.concurrencyKey ?? '');
    if (key === undefined || key.occupants.has(job)) return false;
    key.blocked.remove(job);
    return true;
  }
}

/**
 * Unblocks jobs in run order while slots are free. Returns the unblocked jobs. Jobs with the same key can have
 * different limits; the limit of the next blocked job applies.
 */
function unblock({ occupants, blocked }: KeyRecord): JobRecord[] {
  const unblocked: JobRecord[] = [];
  for (let next = blocked.first; next !== undefined; next = blocked.first) {
    if (occupants.size >= (next.meta?.concurrencyLimit ?? Infinity)) break;
    occupants.add(next);
    next.blocked = false;
    unblocked.push(...blocked.take(1, null));
  }
  return unblocked;
}
