import type { JobError } from '../job/job.js';

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
  /** Why, as of the last time it was tried. */
  readonly error: JobError;
  /** How often it was tried. */
  readonly failures: number;
  readonly createdAt: Date;
  readonly failedAt: Date;
  /** When it is tried again. */
  readonly retryAt: Date;
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

/** @param failures how often it has failed, 1 or more */
export function setAsideForMs(failures: number): number {
  return Math.min(firstRetryMs * 2 ** (failures - 1), longestRetryMs);
}

/**
 * What was set aside. Each item is tried again by itself after a minute, then at growing intervals up to an hour, and is gone
 * from here when that succeeds.
 */
export interface SetAside {
  /** Newest first. */
  list(query: SetAsideQuery): Promise<SetAsideItem[]>;
  /** How many items of each role there are. */
  count(): Promise<Record<SetAsideRole, number>>;
  /** Has an item tried again now. `false`: there is none with this id. */
  retry(id: string): Promise<boolean>;
  /**
   * Gives an item up: it is not tried again, and gone from here. A job that it is about stays where it is, for an operator to
   * cancel or to run. `false`: there is none with this id.
   */
  discard(id: string): Promise<boolean>;
  /** Calls the listener when this process has set something aside for the first time. Returns the function that ends it. */
  listen(listener: SetAsideListener): () => void;
}

export type SetAsideListener = (item: Pick<SetAsideItem, 'role' | 'key' | 'jobId' | 'error'>) => void;
