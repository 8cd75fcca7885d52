import type { JobError } from '../job/job.js';
import type { BulkRequest } from './bulk-operations.js';
import { type BulkAction, bulkActions, type ControlOptions } from './job-control.js';
import type { TransactionClient } from './transaction.js';

/**
 * The background roles that can set an item aside:
 *
 * - `resolver`: updates batches, dependents and jobs blocked by a concurrency key
 * - `scheduler`: makes due jobs ready
 * - `resumer`: resumes queues, job types and recurring jobs at the end of their pauses
 * - `rescuer`: ends lost attempts; their jobs become ready again, or fail or are cancelled
 * - `recurring`: fires recurring jobs
 * - `bulk`: runs bulk operations
 * - `cleaner`: does the housekeeping of `Maintenance.maintain`
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

/** An item that background work skips because processing it has failed, probably due to the item's data. */
export interface SetAsideItem {
  /** A decimal number as a string; higher for items that were set aside later. */
  readonly id: string;
  readonly role: SetAsideRole;
  /**
   * Identifies the item within its role, for example a job id, a recurring job id, the number of an outbox entry, or
   * the name of a task. For `bulk`, see {@link bulkKey}.
   */
  readonly key: string;
  /**
   * The queue of the item's job; can be `null` for an item without a job, such as a recurring job or a housekeeping
   * task.
   */
  readonly queue: string | null;
  readonly jobId: string | null;
  /** The latest error. */
  readonly error: JobError;
  /** Number of times that processing the item has failed. */
  readonly failures: number;
  readonly createdAt: Date;
  readonly failedAt: Date;
  /**
   * When the item will be retried. `null` for a job that a bulk operation skipped: only {@link SetAside.retry} retries
   * such a job.
   */
  readonly retryAt: Date | null;
}

export interface SetAsideQuery {
  readonly limit: number;
  /** Only items first set aside before the item with this id. */
  readonly after?: string;
}

/**
 * Maximum number of items that are set aside per role. If more items fail, their data is probably not the cause. The
 * error is then thrown, and the whole step is retried later.
 */
export const maxSetAside = 1_000;

/** Delay before the first retry, in milliseconds. Doubles with each retry, up to `longestRetryMs`. */
const firstRetryMs = 60_000;
const longestRetryMs = 3_600_000;

/** Returns the {@link SetAsideItem.key} for a job that a bulk operation skipped. */
export function bulkKey(action: BulkAction, jobId: string): string {
  return `${action} ${jobId}`;
}

/**
 * Returns the bulk request that retries the action on a job that a bulk operation skipped.
 *
 * @throws {Error} if the item is not such a job
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
 * @param failures number of times that processing the item has failed, 1 or more
 */
export function setAsideRetryMs(failures: number): number {
  return Math.min(firstRetryMs * 2 ** (failures - 1), longestRetryMs);
}

/**
 * The items that background work has set aside. An item is retried after a minute, then at growing intervals of up to
 * an hour. The item is removed once a retry succeeds. Jobs that a bulk operation skipped are retried only by
 * {@link retry}; the Postgres storage keeps them for 30 days.
 */
export interface SetAside {
  /** Lists the items, most recently set aside first. */
  list(query: SetAsideQuery): Promise<SetAsideItem[]>;
  count(): Promise<Record<SetAsideRole, number>>;
  /**
   * Returns an item; `null` if it does not exist.
   *
   * @param transaction the caller's transaction; its uncommitted changes are visible
   */
  find(id: string, transaction?: TransactionClient): Promise<SetAsideItem | null>;
  /**
   * Makes an item due, so that the next available server retries it. For a job that a bulk operation skipped, removes
   * the item and starts a new operation on that job alone. Returns the item as it was before the call; `null` if it
   * does not exist.
   */
  retry(
    id: string,
    options?: ControlOptions<SetAsideItem, SetAsideItem | null>,
  ): Promise<SetAsideItem | null>;
  /**
   * Removes an item from the list, so that it is not retried. The item's job, if any, does not change; operators can
   * still cancel or run that job. Returns the removed item; `null` if it does not exist.
   */
  discard(
    id: string,
    options?: ControlOptions<SetAsideItem, SetAsideItem | null>,
  ): Promise<SetAsideItem | null>;
  /**
   * Calls the listener whenever this process sets aside a new item, but not when a retry of the item fails. Returns a
   * function that unsubscribes the listener.
   */
  listen(listener: SetAsideListener): () => void;
}

export type SetAsideListener = (item: Pick<SetAsideItem, 'role' | 'key' | 'jobId' | 'error'>) => void;
