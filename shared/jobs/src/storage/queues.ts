import type { Queue } from '../job/job.js';
import type { QueueLimits } from '../job/queue-limits.js';
import type { PauseOptions, PauseState } from '../job/pause.js';
import type { ActionOptions } from './audit-log.js';
import type { JobCount } from './job-reader.js';
import type { TransactionClient } from './transaction.js';

/** The settings of a queue that operators control. */
export type QueueSettings = Pick<Queue, keyof PauseState | 'concurrencyLimit' | 'rateLimit'>;

/** Options of an operator's action on a queue. */
export interface QueueControlOptions<Result> extends ActionOptions<Result> {
  /**
   * The settings that the operator saw. The action is carried out only if the queue still has them. The comparison
   * includes the limits and whether the queue is paused, but not the details of the pause.
   */
  readonly seen?: QueueSettings | undefined;
}

/** Options of pausing a queue. */
export interface PauseQueueOptions extends QueueControlOptions<QueueControlResult>, PauseOptions {}

/** The settings of a queue before they were changed; `null` if nothing was changed because they differ from `seen`. */
export type QueueControlResult = QueueSettings | null;

/** The result of deleting a queue. */
export type QueueDeletion =
  | 'deleted'
  /** The queue has unfinished jobs; nothing changed. */
  | 'holds-jobs'
  /** A server consumes the queue; nothing changed. */
  | 'served'
  /** The settings differ from those in `seen`; nothing changed. */
  | 'changed'
  | 'unknown';

/** A job that occupies a slot of its concurrency key: it is running, or ready. */
export interface KeyOccupant {
  readonly id: string;
  readonly name: string;
  /** `null` if the job is ready. */
  readonly startedAt: Date | null;
}

/** A concurrency key that blocks jobs. */
export interface BlockingKey {
  readonly queue: string;
  readonly key: string;
  /** Number of blocked jobs. */
  readonly blocked: JobCount;
  /** The key's limit, and the jobs that occupy its slots; `null` for all but the 20 keys with the most blocked jobs. */
  readonly details: {
    /** The limit set by the blocked job that is next in line. */
    readonly limit: number;
    /** When that job was created or became due, whichever is later. */
    readonly since: Date;
    /** Up to ten of the jobs that occupy a slot, running ones first. */
    readonly occupants: readonly KeyOccupant[];
  } | null;
}

export interface BlockingKeys {
  /** The keys with the most blocked jobs first. */
  readonly keys: readonly BlockingKey[];
  /** `false` if there may be more keys. */
  readonly isComplete: boolean;
}

/** Reads and controls queues. Pausing, resuming and limiting create the queue if it does not exist. */
export interface Queues {
  /**
   * Returns a queue; `null` if it does not exist. With a caller's transaction, the settings include that transaction's
   * changes; the counts include only committed jobs.
   */
  find(name: string, transaction?: TransactionClient): Promise<Queue | null>;
  /** Lists all queues, sorted by name. */
  list(): Promise<Queue[]>;
  /**
   * Lists the concurrency keys that block jobs, in one queue or in all. The cost is bounded: at most 200 keys are read,
   * and 20 000 blocked jobs are counted in total.
   */
  listBlockingKeys(queue?: string): Promise<BlockingKeys>;
  /**
   * Stops servers from claiming jobs of a queue until the queue is resumed or the pause ends. Running jobs finish.
   *
   * @throws {RangeError} if the reason or the end is out of bounds
   */
  pause(name: string, options?: PauseQueueOptions): Promise<QueueControlResult>;
  /** Ends a pause, so that servers claim jobs of the queue again. */
  resume(name: string, options?: QueueControlOptions<QueueControlResult>): Promise<QueueControlResult>;
  /**
   * Sets or removes a queue's limits, which apply to all servers from their next claim on. Running jobs finish.
   *
   * @throws {RangeError} if a number is out of bounds
   */
  limit(
    name: string,
    limits: QueueLimits,
    options?: QueueControlOptions<QueueControlResult>,
  ): Promise<QueueControlResult>;
  /**
   * Deletes a queue that has neither unfinished jobs nor consumers. The queue loses its settings, is no longer listed,
   * and no longer counts towards the maximum number of queues. Its finished jobs remain under its name. The queue is
   * created again, with default settings, when it gets a job, a consumer or a setting. A queue that has been idle for
   * {@link idleQueueDays} days is deleted in the same way.
   */
  delete(name: string, options?: QueueControlOptions<QueueDeletion>): Promise<QueueDeletion>;
}
