import type { JobError } from '../job/job.js';
import { type BulkAction, bulkActions, type BulkRequest } from './bulk-operations.js';
import type { ControlOptions } from './job-control.js';
import type { TransactionClient } from './transaction.js';

/**
 * The background roles that can set an item aside:
 *
 * - `resolver`: updates batches, dependents and jobs blocked by a concurrency key
 * - `scheduler`: makes due jobs ready
 * - `resumer`: resumes queues, job types and recurring jobs at the end of their pauses
 * - `rescuer`: ends attempts whose claims were lost, and makes their jobs ready again or fails them
 * - `recurring`: fires recurring jobs
 * - `bulk`: runs bulk operations
 * - `cleaner`: does the housekeeping
 * - `completer`: stores the outcomes of attempts
 */
export const setAsideRoles = [
  'resolver',
  'scheduler',
  'resumer',
  'rescuer',
  'recurring',
  'bulk',
  'cleaner',
  'completer',
] as const;

export type SetAsideRole = (typeof setAsideRoles)[number];

/** An item that background processing could not handle because of the item's data. Processing continues without it. */
export interface SetAsideItem {
  /** A decimal number as a string; higher for items that were set aside later. */
  readonly id: string;
  readonly role: SetAsideRole;
  /**
   * Identifies the item within its role, for example by the id of a job or a recurring job, the number of an outbox
   * entry, or the name of a task. For `bulk`, see {@link bulkKey}.
   */
  readonly key: string;
  /** The queue to which the item belongs; `null` if there is none, or it is not recorded. */
  readonly queue: string | null;
  readonly jobId: string | null;
  /** The latest error. */
  readonly error: JobError;
  /** Number of times that processing the item has failed. */
  readonly failures: number;
  readonly createdAt: Date;
  readonly failedAt: Date;
  /**
   * When the item is retried; `null` for a job that a bulk operation skipped, which only {@link SetAside.retry}
   * retries.
   */
  readonly retryAt: Date | null;
}

export interface SetAsideQuery {
  readonly limit: number;
  /** Only items that were set aside before the one with this id. */
  readonly after?: string;
}

/**
 * Maximum number of items per role. If more items fail, the cause is probably not their data, so the work is retried as
 * a whole.
 */
export const maxSetAside = 1_000;

/** Delay before the first retry, in milliseconds; it doubles with each further retry. */
const firstRetryMs = 60_000;
const longestRetryMs = 3_600_000;

/** Returns the `key` of an item that represents a job skipped by a bulk operation. */
export function bulkKey(action: BulkAction, jobId: string): string {
  return `${action} ${jobId}`;
}

/**
 * Returns the bulk request that repeats an action on a skipped job.
 *
 * @throws {Error} if the item has another role
 */
export function bulkRequestOf({
  role,
  key,
  jobId,
}: Pick<SetAsideItem, 'role' | 'key' | 'jobId'>): BulkRequest {
  const action = bulkActions.find((candidate) => key === bulkKey(candidate, jobId ?? ''));
  if (role !== 'bulk' || action === undefined || jobId === null)
    throw new Error(`"${key}" of the role ${role} is not a job that a bulk operation skipped`);
  return { action, filter: { id: [jobId] } };
}

/**
 * Returns the delay before the next retry, in milliseconds.
 *
 * @param failures number of times that processing has failed, 1 or more
 */
export function setAsideRetryMs(failures: number): number {
  return Math.min(firstRetryMs * 2 ** (failures - 1), longestRetryMs);
}

/**
 * The items that background processing has set aside. Each is retried after a minute, then at growing intervals of up
 * to an hour, and removed once it succeeds. Jobs that a bulk operation skipped are kept for 30 days and retried only by
 * `retry`.
 */
export interface SetAside {
  /** Lists the items, newest first. */
  list(query: SetAsideQuery): Promise<SetAsideItem[]>;
  /** Counts the items of each role. */
  count(): Promise<Record<SetAsideRole, number>>;
  /** Returns an item; `null` if it does not exist. A caller's transaction sees its own writes. */
  find(id: string, transaction?: TransactionClient): Promise<SetAsideItem | null>;
  /**
   * Makes an item due, so that the next available server retries it. For a job that a bulk operation skipped, removes
   * the item and starts an operation on that job alone; if that operation fails, too, the job is set aside again.
   * Returns the item as it was before; `null` if it does not exist.
   */
  retry(
    id: string,
    options?: ControlOptions<SetAsideItem, SetAsideItem | null>,
  ): Promise<SetAsideItem | null>;
  /**
   * Removes an item without retrying it. Its job, if any, is not changed; an operator can still cancel or run that job.
   * Returns the removed item; `null` if it does not exist.
   */
  discard(
    id: string,
    options?: ControlOptions<SetAsideItem, SetAsideItem | null>,
  ): Promise<SetAsideItem | null>;
  /**
   * Calls the listener when this process sets an item aside for the first time. Returns a function that unsubscribes.
   */
  listen(listener: SetAsideListener): () => void;
}

export type SetAsideListener = (item: Pick<SetAsideItem, 'role' | 'key' | 'jobId' | 'error'>) => void;
