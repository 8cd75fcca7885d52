import type { FinishedState, JobState } from '../job/state.js';
import type { ActionOptions } from './audit-log.js';
import { isUnrestricted, type JobFilter } from './job-filter.js';
import type { JobCount } from './job-reader.js';

/** The actions that can be applied to many jobs; each corresponds to a method of `JobControl`. */
export const bulkActions = ['cancel', 'retry', 'run', 'delete'] as const;

export type BulkAction = (typeof bulkActions)[number];

/** The job states to which each action applies. Matching jobs in other states are not affected. */
export const statesOfAction: Readonly<Record<BulkAction, readonly [JobState, ...JobState[]]>> = {
  cancel: ['awaiting', 'scheduled', 'enqueued', 'processing'],
  retry: ['failed', 'cancelled'],
  run: ['awaiting', 'scheduled'],
  delete: ['done', 'failed', 'cancelled'],
};

/** Maximum number of ids in a filter. */
const maxIds = 1_000;

export interface BulkRequest {
  readonly action: BulkAction;
  /**
   * Selects the jobs; at most 1000 ids. An empty filter is rejected, because it may be a mistake; to select every
   * job, list the states.
   */
  readonly filter: JobFilter;
  /** Who requested the operation, for display; at most 300 characters. */
  readonly requestedBy?: string | null;
  /**
   * The preview that was confirmed; the operation is limited to the jobs in it. Without a preview, the operation
   * includes all jobs that match when it is created.
   */
  readonly confirmed?: BulkPreview;
  /**
   * For `retry`: whether to also restore dependents, as `JobControl.retry` does. Restored dependents are not counted as
   * changed. `false` by default.
   */
  readonly dependents?: boolean;
  /**
   * How long to wait, in milliseconds, before changing anything: up to a day, 0 by default. An operation that is
   * cancelled in that time has changed nothing.
   */
  readonly delayMs?: number;
}

/** Maximum of `delayMs`. */
const maxDelayMs = 86_400_000;

/**
 * Describes the jobs that an operation would change. An operation that is confirmed with this preview changes no other
 * jobs and, if the count is exact, no more than that number. It changes fewer jobs if other actions change some of them
 * first.
 */
export interface BulkPreview {
  /** `null` if counting took too long. */
  readonly count: JobCount | null;
  /** When the jobs were counted, by the storage's clock. Jobs created or finished later are not included. */
  readonly asOf: Date;
  /**
   * For each finished state in which only the latest jobs were searched for the filter's words: the id of the oldest
   * job searched. Older jobs are not included.
   */
  readonly oldestSearchedIds: Readonly<Partial<Record<FinishedState, string>>>;
}

/**
 * The state of a bulk operation:
 *
 * - `pending`: it has not changed anything yet; cancelling it leaves every job as it was
 * - `running`: servers are working on it, or will when one is available
 * - `done`: every matching job has been processed
 * - `cancelled`: an operator stopped it; jobs already changed stay changed
 * - `failed`: a permanent error stopped it; jobs already changed stay changed
 */
export type BulkState = 'pending' | 'running' | 'done' | 'cancelled' | 'failed';

/** One action on many jobs, applied in the background in chunks. */
export interface BulkOperation {
  /** UUIDv7, which sorts by creation time. */
  id: string;
  action: BulkAction;
  filter: JobFilter;
  state: BulkState;
  /**
   * Number of jobs that matched when the preview was made or, without a preview, when the operation was created; `null`
   * if counting took too long.
   */
  matched: JobCount | null;
  /** Number of jobs processed so far: changed plus skipped. */
  seen: number;
  changed: number;
  /**
   * Number of jobs that were not changed because their state no longer allowed it or they were set aside, and of ids
   * that do not exist.
   */
  skipped: number;
  requestedBy: string | null;
  createdAt: Date;
  /** When the operation starts to change jobs: `createdAt`, or later if it was delayed. */
  startsAt: Date;
  finishedAt: Date | null;
  /** The error that stopped the operation; `null` unless it failed. */
  error: string | null;
}

export interface ChangedJobsQuery {
  readonly limit: number;
  /** Only jobs that were created before the one with this id. */
  readonly after?: string;
}

export interface BulkListQuery {
  readonly limit: number;
  /** Only operations older than the one with this id. */
  readonly after?: string;
}

/**
 * Applies actions to all jobs that match a filter. Servers run the operations; if one server dies, another continues.
 * Jobs that were enqueued after an operation was created, or after its preview, are not affected; `retry` and `delete`
 * also skip jobs that finished after that time. A finished operation is kept for 30 days.
 */
export interface BulkOperations {
  /**
   * Counts the jobs that a request would change now, and returns the bounds of that set.
   *
   * @throws {RangeError} as `start` does
   */
  preview(request: Pick<BulkRequest, 'action' | 'filter'>): Promise<BulkPreview>;
  /**
   * Starts an operation. Resolves as soon as the operation is stored. If the caller passes a transaction, the operation
   * starts when that transaction commits.
   *
   * @throws {RangeError} if the action is unknown, there are too many ids, the filter matches every job, or the delay
   *   is out of bounds
   */
  start(request: BulkRequest, options?: ActionOptions<BulkOperation>): Promise<BulkOperation>;
  /** Returns an operation; `null` if it does not exist. */
  find(id: string): Promise<BulkOperation | null>;
  /** Lists operations, newest first. */
  list(query: BulkListQuery): Promise<BulkOperation[]>;
  /** Lists the ids of the jobs that an operation has changed, newest first, including those deleted since. */
  listChanged(id: string, query: ChangedJobsQuery): Promise<string[]>;
  /**
   * Stops a pending or running operation before its next chunk; has no effect on one that has ended. Returns `null` if
   * the operation does not exist.
   */
  cancel(id: string, options?: ActionOptions<BulkOperation | null>): Promise<BulkOperation | null>;
  /** Processes one chunk of a running operation. Servers call this. Returns `false` if there was nothing to process. */
  advance(): Promise<boolean>;
}

/** @throws {RangeError} as `start` does */
export function checkBulkRequest({ action, filter, requestedBy, delayMs = 0 }: BulkRequest): void {
  if (!bulkActions.includes(action))
    throw new RangeError(`"${action}" is not a bulk action; use one of ${bulkActions.join(', ')}`);
  if (isUnrestricted(filter))
    throw new RangeError('A bulk operation requires a filter; to select every job, list the states');
  if ((filter.id?.length ?? 0) > maxIds)
    throw new RangeError(
      `A bulk operation accepts at most ${maxIds} ids; to select more jobs, use other filters`,
    );
  if ((requestedBy?.length ?? 0) > 300) throw new RangeError('requestedBy must have at most 300 characters');
  if (!(delayMs >= 0 && delayMs <= maxDelayMs))
    throw new RangeError(`delayMs must be from 0 to ${maxDelayMs}`);
}

/**
 * Returns the states in which a request changes jobs: those to which its action applies, limited to the filter's
 * states, if given.
 */
export function statesOfRequest({
  action,
  filter: { state = [] },
}: Pick<BulkRequest, 'action' | 'filter'>): readonly JobState[] {
  const states = statesOfAction[action];
  return state.length === 0 ? states : states.filter((candidate) => state.includes(candidate));
}
