import { brand } from '@longshore/edge';
import type { Job, JsonValue, NewJob } from '../job/job.js';
import { readMeta } from '../job/meta.js';
import type { EnqueueResult } from '../storage/enqueuer.js';
import type { EnqueuedJob } from './enqueue-options.js';

/** The result of enqueueing a job. Can also return the job itself, without reading it from the storage. */
export class EnqueuedJobDetails implements EnqueuedJob {
  static {
    brand(this, 'EnqueuedJobDetails');
  }

  readonly id: string;
  readonly queue: string;
  readonly created: boolean;
  readonly #job: NewJob;
  readonly #createdAt: Date | null;
  readonly #holder: Job | null;

  constructor(job: NewJob, { holders, includedHolders, createdAt }: EnqueueResult) {
    const holderId = holders.get(job.id);
    this.id = holderId ?? job.id;
    this.queue = job.queue;
    this.created = holderId === undefined;
    this.#job = job;
    this.#createdAt = createdAt;
    this.#holder = includedHolders.get(this.id) ?? null;
  }

  /**
   * Returns the new job as it was stored. If no job was created, returns the job that holds the key. Returns `null`
   * instead of that job if `includeHolder` was not set, or if the same call created that job.
   */
  asStored(): Job | null {
    if (!this.created) return this.#holder;
    if (this.#createdAt === null) return null;
    const { id, name, queue, priority, args, maxAttempts, after = null, meta = null } = this.#job;
    const runAt = dueDate(this.#job, this.#createdAt);
    const state = after !== null ? 'awaiting' : runAt === null ? 'enqueued' : 'scheduled';
    const mayBeBlocked = meta?.concurrencyKey !== undefined;
    return {
      id,
      name,
      queue,
      state,
      priority,
      args: JSON.parse(args) as JsonValue,
      result: null,
      error: null,
      attempt: 0,
      maxAttempts,
      createdAt: this.#createdAt,
      runAt,
      delayMs: after !== null && runAt === null ? delayOf(this.#job) : null,
      readyAt: state === 'enqueued' && !mayBeBlocked ? this.#createdAt : null,
      startedAt: null,
      finishedAt: null,
      serverId: null,
      cancelRequestedAt: null,
      cancelReason: null,
      progress: null,
      ...readMeta(meta),
    };
  }
}

function delayOf({ due }: NewJob): number | null {
  return due !== null && 'inMs' in due ? due.inMs : null;
}

/**
 * Returns the `runAt` of a new job; `null` if the job has neither a time nor a delay. Also returns `null` for a
 * dependent with a delay, because the delay has not started yet.
 */
function dueDate({ due, after = null }: NewJob, createdAt: Date): Date | null {
  if (due === null) return null;
  if (after !== null) return 'at' in due ? due.at : null;
  const from = createdAt.getTime();
  return new Date('at' in due ? Math.max(due.at.getTime(), from) : from + due.inMs);
}
