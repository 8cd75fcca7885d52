import type { Job, JsonValue, NewJob } from '../job/job.js';
import { readMeta } from '../job/meta.js';
import type { Receipt } from '../storage/receipt.js';
import type { EnqueuedJob } from './enqueue-options.js';

/** A job that was handed over, with what it takes to show it without asking the storage for it. */
export class HandedOver implements EnqueuedJob {
  readonly id: string;
  readonly queue: string;
  readonly created: boolean;
  readonly #job: NewJob;
  readonly #createdAt: Date | null;
  readonly #holder: Job | null;

  constructor(job: NewJob, { holders, shown, createdAt }: Receipt) {
    const holderId = holders.get(job.id);
    this.id = holderId ?? job.id;
    this.queue = job.queue;
    this.created = holderId === undefined;
    this.#job = job;
    this.#createdAt = createdAt;
    this.#holder = shown.get(this.id) ?? null;
  }

  /**
   * The job as it stood in the storage when it had been created, or the one that holds its key, if that was to be shown.
   * `null` if neither is known.
   */
  asStored(): Job | null {
    if (!this.created) return this.#holder;
    if (this.#createdAt === null) return null;
    const { id, name, queue, priority, args, maxAttempts, after = null, meta = null } = this.#job;
    const runAt = dueDate(this.#job, this.#createdAt);
    const state = after !== null ? 'awaiting' : runAt === null ? 'enqueued' : 'scheduled';
    const mayBeHeld = meta?.concurrencyKey !== undefined;
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
      readyAt: state === 'enqueued' && !mayBeHeld ? this.#createdAt : null,
      startedAt: null,
      finishedAt: null,
      serverId: null,
      progress: null,
      ...readMeta(meta),
    };
  }
}

/** Milliseconds count from the end of the last parent, if it has one: then the time is not known yet. */
function dueDate({ due, after = null }: NewJob, createdAt: Date): Date | null {
  if (due === null) return null;
  if ('at' in due) return due.at;
  return after === null ? new Date(createdAt.getTime() + due.inMs) : null;
}
