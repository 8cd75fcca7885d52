import { admissible, afterAdmission } from '../job/key-rate.js';
import { readRate } from '../job/queue-limits.js';
import type { JobRecord } from './job-record.js';
import { ReadyQueue } from './ready-queue.js';

interface KeyRecord {
  /** The ready and running jobs with this key. Each one occupies a slot of the key. */
  readonly occupants: Set<JobRecord>;
  readonly blocked: ReadyQueue;
  /** When the bucket of the key's rate is full, in milliseconds since 1970; `null` if it is. */
  fullAtMs: number | null;
  /** When the rate lets the next blocked job become ready, in milliseconds since 1970; `null` if none waits for it. */
  wakeAtMs: number | null;
}

/** The concurrency semaphores of one queue. Tracks for each key which jobs occupy slots and which jobs are blocked. */
export class ConcurrencyKeys {
  readonly #keys = new Map<string, KeyRecord>();

  /** When the rate of a key lets the next blocked job become ready, in milliseconds since 1970; `null` if none waits. */
  get wakeAtMs(): number | null {
    const times = [...this.#keys.values()].flatMap(({ wakeAtMs }) => wakeAtMs ?? []);
    return times.length === 0 ? null : times.reduce((first, time) => Math.min(first, time));
  }

  /**
   * Requests a slot for a job, so that the job can become ready. Returns the jobs that become ready now; if this job is
   * not among them, it is blocked. A job without a concurrency key needs no slot.
   */
  acquire(job: JobRecord, nowMs: number): JobRecord[] {
    const name = job.meta?.concurrencyKey;
    if (name === undefined) return [job];
    let key = this.#keys.get(name);
    if (key === undefined) {
      key = { occupants: new Set(), blocked: new ReadyQueue(), fullAtMs: null, wakeAtMs: null };
      this.#keys.set(name, key);
    }
    if (key.occupants.has(job)) return [job]; // a released job, for example, keeps its slot
    key.blocked.add(job);
    job.blocked = true;
    return unblock(key, nowMs);
  }

  /**
   * Frees the slot of a job that is no longer ready or running; does nothing if the job has no slot. Returns the
   * blocked jobs that become ready now.
   */
  release(job: JobRecord, nowMs: number): JobRecord[] {
    const name = job.meta?.concurrencyKey;
    const key = name === undefined ? undefined : this.#keys.get(name);
    if (name === undefined || !key?.occupants.delete(job)) return [];
    const unblocked = unblock(key, nowMs);
    if (isIdle(key, nowMs)) this.#keys.delete(name);
    return unblocked;
  }

  /** Returns when the rate of a job's key lets the next blocked job become ready; `null` if none waits for it. */
  wakesAt({ meta }: JobRecord): Date | null {
    if (meta?.concurrencyRate === undefined) return null;
    const { wakeAtMs = null } = this.#keys.get(meta.concurrencyKey ?? '') ?? {};
    return wakeAtMs === null ? null : new Date(wakeAtMs);
  }

  /** Forgets the keys that no job has, once their buckets are full. */
  trim(nowMs: number): void {
    for (const [name, key] of this.#keys) if (isIdle(key, nowMs)) this.#keys.delete(name);
  }

  /** Returns the blocked jobs that become ready now because the rate of their key allows it. */
  wake(nowMs: number): JobRecord[] {
    return [...this.#keys.values()]
      .filter(({ wakeAtMs }) => wakeAtMs !== null && wakeAtMs <= nowMs)
      .flatMap((key) => unblock(key, nowMs));
  }

  /** Returns the blocked jobs of a key, in run order. */
  blockedBy(name: string): JobRecord[] {
    return this.#keys.get(name)?.blocked.list() ?? [];
  }

  /** Sets the limit of the blocked jobs of a key. {@link wake} then returns those that become ready. */
  limit(name: string, limit: number, nowMs: number): void {
    const key = this.#keys.get(name);
    if (key === undefined) return;
    for (const job of key.blocked.list()) job.meta = { ...job.meta, concurrencyLimit: limit };
    key.wakeAtMs = nowMs;
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
 * Unblocks jobs in run order while slots are free and the rate allows it. Returns the unblocked jobs. Jobs with the same
 * key can have different limits; the limit of the next blocked job applies, and the rate of the first.
 */
function unblock(key: KeyRecord, nowMs: number): JobRecord[] {
  const { occupants, blocked } = key;
  const unblocked: JobRecord[] = [];
  const first = blocked.first;
  const rate = first === undefined ? null : readRate(first.meta?.concurrencyRate);
  const rated = rate === null ? null : { rate, nowMs, fullAtMs: key.fullAtMs, ...roomOf(key) };
  const most = rated === null ? Infinity : admissible(rated);
  for (let next = first; next !== undefined && unblocked.length < most; next = blocked.first) {
    if (occupants.size >= (next.meta?.concurrencyLimit ?? Infinity)) break;
    occupants.add(next);
    next.blocked = false;
    next.readyAt = nowMs;
    unblocked.push(...blocked.take(1, null));
  }
  key.wakeAtMs = null;
  if (rated !== null) {
    const { fullAtMs, nextAtMs } = afterAdmission(rated, unblocked.length);
    key.fullAtMs = fullAtMs;
    key.wakeAtMs = blocked.length === 0 ? null : nextAtMs;
  }
  return unblocked;
}

function isIdle({ occupants, blocked, fullAtMs }: KeyRecord, nowMs: number): boolean {
  return occupants.size === 0 && blocked.length === 0 && (fullAtMs ?? 0) <= nowMs;
}

function roomOf({ occupants, blocked }: KeyRecord): { slots: number; unclaimed: number } {
  const limit = blocked.first?.meta?.concurrencyLimit ?? Infinity;
  return {
    slots: limit - occupants.size,
    unclaimed: [...occupants].filter(({ state }) => state === 'enqueued').length,
  };
}
