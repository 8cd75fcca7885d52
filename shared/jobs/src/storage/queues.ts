import type { Queue } from '../job/job.js';
import type { QueuesInCode } from '../job/queue-in-code.js';
import type { QueueLimits } from '../job/queue-limits.js';
import type { PauseOptions, PauseState } from '../job/pause.js';
import type { ActionOptions } from './audit-log.js';
import type { JobCount } from './job-reader.js';
import type { QueueSynchronization } from './queue-synchronization.js';
import type { TransactionClient } from './transaction.js';

/** The queue settings that operators can change. */
export type QueueSettings = Pick<Queue, keyof PauseState | 'concurrencyLimit' | 'rateLimit'>;

export interface QueueControlOptions<Result> extends ActionOptions<Result> {
  /**
   * The settings that the operator saw. If given, the action is carried out only if they still match the queue's
   * current settings. The comparison includes the limits and whether the queue is paused, but not the details of the
   * pause.
   */
  readonly seen?: QueueSettings | undefined;
}

export interface PauseQueueOptions extends QueueControlOptions<QueueControlResult>, PauseOptions {}

/** A queue's settings before the change; `null` if nothing was changed because they did not match `seen`. */
export type QueueControlResult = QueueSettings | null;

/** Whether a queue was created, or existed already, so that nothing changed. */
export type QueueCreation = 'created' | 'exists';

export type QueueDeletion =
  | 'deleted'
  /** The queue has unfinished jobs; nothing changed. */
  | 'holds-jobs'
  /** A server consumes the queue; nothing changed. */
  | 'served'
  /** The queue's settings did not match `seen`; nothing changed. */
  | 'changed'
  /** The queue does not exist. */
  | 'unknown';

/** What became of the limit of a concurrency key. */
export interface KeyLimiting {
  /** The number of blocked jobs whose limit was another. */
  readonly changed: number;
  /**
   * Up to {@link maxOldLimits} limits that the blocked jobs had before, in ascending order; none if no job of the key was
   * blocked.
   */
  readonly before: readonly number[];
}

/** Maximum number of old limits of a key to report. */
export const maxOldLimits = 10;

/** A running or ready job that occupies a slot of its concurrency key. */
export interface KeyOccupant {
  readonly id: string;
  readonly name: string;
  /** `null` if the job is ready. */
  readonly startedAt: Date | null;
}

/** A concurrency key whose slots are all occupied, so that other jobs with the key are blocked. */
export interface BlockingKey {
  readonly queue: string;
  readonly key: string;
  readonly blocked: JobCount;
  /**
   * The key's limit and the jobs in its slots. Always set for the 20 keys with the most blocked jobs; may be `null` for
   * other keys.
   */
  readonly details: {
    /** The limit of the blocked job that is next in line; jobs with the same key can have different limits. */
    readonly limit: number;
    /** When the blocked job that is next in line was created or became due, whichever is later. */
    readonly since: Date;
    /** Up to ten of the jobs that occupy a slot; running jobs come first. */
    readonly occupants: readonly KeyOccupant[];
  } | null;
}

export interface BlockingKeys {
  /** The keys, sorted by number of blocked jobs, highest first. */
  readonly keys: readonly BlockingKey[];
  /** `false` if some blocking keys may be missing. */
  readonly isComplete: boolean;
}

/** Reads and controls queues. Pausing, resuming or limiting a queue creates it if it does not exist. */
export interface Queues {
  /**
   * Returns a queue; `null` if it does not exist. Uncommitted changes of the caller's transaction are visible in the
   * settings, but not in the counts.
   */
  find(name: string, transaction?: TransactionClient): Promise<Queue | null>;
  /**
   * Creates a queue with limits before it has a job or a server. A deleted queue can be created again.
   *
   * @param limits absent limits are `null`: no limit
   * @throws {RangeError} if the name or a limit is out of bounds
   * @throws {TooManyQueuesError} if there can be no more queues
   */
  create(name: string, limits?: QueueLimits, options?: ActionOptions<QueueCreation>): Promise<QueueCreation>;
  /** Lists all queues, sorted by name in the order of an alphabet. */
  list(): Promise<Queue[]>;
  /**
   * Lists the concurrency keys that block jobs, in one queue or, by default, in all. The cost is bounded: an
   * implementation may read only 200 keys and count only 20,000 blocked jobs in total.
   */
  listBlockingKeys(queue?: string): Promise<BlockingKeys>;
  /**
   * Stops servers from claiming jobs from a queue until the queue is resumed or the pause ends. Jobs that are already
   * running finish.
   *
   * @throws {RangeError} if the reason is empty or too long, or the end is in the past or more than a year ahead
   */
  pause(name: string, options?: PauseQueueOptions): Promise<QueueControlResult>;
  /** Ends a pause, so that servers claim jobs from the queue again. */
  resume(name: string, options?: QueueControlOptions<QueueControlResult>): Promise<QueueControlResult>;
  /**
   * Sets or removes a queue's limits. They apply to all servers together. The new limits apply to the next claims; jobs
   * that are already running finish.
   *
   * @param limits the limits to change; absent limits stay as they are, and `null` removes a limit
   * @throws {RangeError} if a limit is out of bounds
   */
  limit(
    name: string,
    limits: QueueLimits,
    options?: QueueControlOptions<QueueControlResult>,
  ): Promise<QueueControlResult>;
  /**
   * Sets the limit of a concurrency key for the jobs of a queue that the key blocks now. As many of them as now have room
   * become ready. Running jobs finish, the rate of the key stays as it is, and jobs that are enqueued later have the limit
   * that they are enqueued with. Changes nothing if no job of the key is blocked, or there is no such queue.
   *
   * @throws {RangeError} if the key or the limit is out of bounds
   */
  limitKey(
    name: string,
    key: string,
    limit: number,
    options?: ActionOptions<KeyLimiting>,
  ): Promise<KeyLimiting>;
  /**
   * Deletes a queue that has neither unfinished jobs nor consumers. The queue loses its settings, is no longer listed,
   * and no longer counts towards the maximum number of queues. Its finished jobs are kept. The queue is created again,
   * with default settings, as soon as it is given a job, a consumer or a setting. Queues that have been idle for
   * {@link idleQueueDays} days are deleted automatically in the same way.
   */
  delete(name: string, options?: QueueControlOptions<QueueDeletion>): Promise<QueueDeletion>;
  /**
   * Applies the settings of queues that an application defines in its code. Only what differs from the code of the last
   * call is changed, so a change that an operator makes lasts until the code of that setting changes. A setting that the
   * code no longer defines is removed, unless an operator has changed it. Each change is recorded in the audit log, by the
   * name of the application.
   *
   * @param queues the settings of all queues that the application defines, by their names
   * @throws {RangeError} if a name or a setting is out of bounds
   * @throws {TooManyQueuesError} if there can be no more queues
   */
  synchronize(application: string, queues: QueuesInCode): Promise<QueueSynchronization>;
}
