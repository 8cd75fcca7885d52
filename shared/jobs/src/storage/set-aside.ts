import type { JobError } from '../job/job.js';
import { type BulkAction, bulkActions, type BulkRequest } from './bulk-operations.js';
import type { ControlOptions } from './job-control.js';
import type { TransactionClient } from './transaction.js';

/**
 * The background work that can set something aside:
 *
 * - `resolver`: the dependencies of jobs: batches, continuations, concurrency keys
 * - `scheduler`: jobs whose time has come; `rescuer`: jobs of lost claims; `recurring`: schedules; `bulk`: bulk operations
 * - `cleaner`: housekeeping; `completer`: outcomes of attempts
 */
export const setAsideRoles = [
  'resolver',
  'scheduler',
  'rescuer',
  'recurring',
  'bulk',
  'cleaner',
  'completer',
] as const;

export type SetAsideRole = (typeof setAsideRoles)[number];

/** Something that background work could not deal with because of its own data. Everything else goes on without it. */
export interface SetAsideItem {
  /** A number: the later it was first set aside, the higher. */
  readonly id: string;
  readonly role: SetAsideRole;
  /** What it is to its role: the id of a job or a recurring job, the number of a move, the name of a chore. */
  readonly key: string;
  /** The queue of the job that it is about; `null` if it is about none. */
  readonly queue: string | null;
  readonly jobId: string | null;
  /** The error of the last try. */
  readonly error: JobError;
  /** Number of tries. */
  readonly failures: number;
  readonly createdAt: Date;
  readonly failedAt: Date;
  /** When it is tried again; `null` if only {@link SetAside.retry} does that: a bulk operation goes on without its item. */
  readonly retryAt: Date | null;
}

export interface SetAsideQuery {
  readonly limit: number;
  /** Only what was set aside before the one with this id. */
  readonly after?: string;
}

/** More of one role is not set aside: what fails then is no longer a matter of single items, and the work is tried again as a whole. */
export const mostSetAside = 1_000;

/** An item is tried again after this many milliseconds, then after twice as many each time. */
const firstRetryMs = 60_000;
const longestRetryMs = 3_600_000;

/** How a job is called that a bulk operation passed over. */
export function bulkKey(action: BulkAction, jobId: string): string {
  return `${action} ${jobId}`;
}

/** What a bulk operation did not do to a job. @throws {Error} if the item is of another role */
export function bulkRequestOf({
  role,
  key,
  jobId,
}: Pick<SetAsideItem, 'role' | 'key' | 'jobId'>): BulkRequest {
  const action = bulkActions.find((candidate) => key === bulkKey(candidate, jobId ?? ''));
  if (role !== 'bulk' || action === undefined || jobId === null)
    throw new Error(`"${key}" of the role ${role} is nothing that a bulk operation passed over`);
  return { action, filter: { id: [jobId] } };
}

/** @param failures how often it has failed, 1 or more */
export function setAsideForMs(failures: number): number {
  return Math.min(firstRetryMs * 2 ** (failures - 1), longestRetryMs);
}

/**
 * What was set aside. Each item is tried again by itself after a minute, then at growing intervals up to an hour, and is gone
 * from here when that succeeds. What a bulk operation passed over is kept for 30 days and tried again only by `retry`.
 */
export interface SetAside {
  /** Newest first. */
  list(query: SetAsideQuery): Promise<SetAsideItem[]>;
  /** How many items of each role there are. */
  count(): Promise<Record<SetAsideRole, number>>;
  /** `null` if there is none with this id. A caller's transaction sees what it has written. */
  find(id: string, transaction?: TransactionClient): Promise<SetAsideItem | null>;
  /**
   * Has an item tried again by the next server that does such work. For what a bulk operation passed over this starts an
   * operation on that job alone, and the item is gone unless that fails as well. Returns the item as it was; `null` if there
   * is none with this id.
   */
  retry(
    id: string,
    options?: ControlOptions<SetAsideItem, SetAsideItem | null>,
  ): Promise<SetAsideItem | null>;
  /**
   * Gives an item up: it is not tried again, and gone from here. A job that it is about stays where it is, for an operator to
   * cancel or to run. Returns the item as it was; `null` if there is none with this id.
   */
  discard(
    id: string,
    options?: ControlOptions<SetAsideItem, SetAsideItem | null>,
  ): Promise<SetAsideItem | null>;
  /** Calls the listener when this process has set something aside for the first time. Returns the function that ends it. */
  listen(listener: SetAsideListener): () => void;
}

export type SetAsideListener = (item: Pick<SetAsideItem, 'role' | 'key' | 'jobId' | 'error'>) => void;
