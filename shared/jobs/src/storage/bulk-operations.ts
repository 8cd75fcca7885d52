import type { JobState } from '../job/state.js';
import type { ActionOptions } from './audit-log.js';
import { isUnrestricted, type JobFilter } from './job-filter.js';
import type { JobCount } from './job-reader.js';

/** The actions that can be applied to many jobs; each corresponds to a method of `JobControl`. */
export const bulkActions = ['cancel', 'retry', 'run', 'delete'] as const;

export type BulkAction = (typeof bulkActions)[number];

/** The states to which each action applies. Matching jobs in other states are not affected. */
export const statesOfAction: Readonly<Record<BulkAction, readonly JobState[]>> = {
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
}

/**
 * - `running`: servers are working on it, or will when one is available
 * - `done`: every matching job has been processed
 * - `cancelled`: somebody stopped it; jobs already changed stay changed
 * - `failed`: it met a permanent error; jobs already changed stay changed
 */
export type BulkState = 'running' | 'done' | 'cancelled' | 'failed';

/** One action on many jobs, applied in the background in chunks. */
export interface BulkOperation {
  /** UUIDv7, which sorts by start time. */
  id: string;
  action: BulkAction;
  filter: JobFilter;
  state: BulkState;
  /** Number of matching jobs when it started; `null` if counting took too long. */
  matched: JobCount | null;
  /** Number of jobs processed so far: changed plus skipped. */
  seen: number;
  changed: number;
  /** Number of jobs whose state no longer allowed the action, and of ids that do not exist. */
  skipped: number;
  requestedBy: string | null;
  createdAt: Date;
  finishedAt: Date | null;
  /** Why it failed. */
  error: string | null;
}

export interface BulkListQuery {
  readonly limit: number;
  /** Only operations older than the one with this id. */
  readonly after?: string;
}

/**
 * Applies actions to all jobs that match a filter. Servers run the operations; if one server dies, another continues.
 * Jobs that were enqueued after an operation started are not affected; `retry` and `delete` also skip jobs that
 * finished after it started. A finished operation is kept for 30 days.
 */
export interface BulkOperations {
  /**
   * Starts an operation. Resolves as soon as it is stored. If the caller passes a transaction, the operation starts
   * when that transaction commits.
   *
   * @throws {RangeError} if the action is unknown, there are too many ids, or the filter matches every job
   */
  start(request: BulkRequest, options?: ActionOptions<BulkOperation>): Promise<BulkOperation>;
  /** Returns `null` if the operation does not exist. */
  find(id: string): Promise<BulkOperation | null>;
  /** Newest first. */
  list(query: BulkListQuery): Promise<BulkOperation[]>;
  /**
   * Stops a running operation before its next chunk; one that has ended is not changed. Returns `null` if it does not
   * exist.
   */
  cancel(id: string, options?: ActionOptions<BulkOperation | null>): Promise<BulkOperation | null>;
  /** Processes one chunk of a running operation. Called by servers. Returns `false` if no operation is running. */
  advance(): Promise<boolean>;
}

/** @throws {RangeError} as `start` does */
export function checkBulkRequest({ action, filter, requestedBy }: BulkRequest): void {
  if (!bulkActions.includes(action))
    throw new RangeError(`"${action}" is not a bulk action; use one of ${bulkActions.join(', ')}`);
  if (isUnrestricted(filter))
    throw new RangeError('A bulk operation requires a filter; to select every job, list the states');
  if ((filter.id?.length ?? 0) > maxIds)
    throw new RangeError(
      `A bulk operation accepts at most ${maxIds} ids; to select more jobs, use other filters`,
    );
  if ((requestedBy?.length ?? 0) > 300) throw new RangeError('requestedBy must have at most 300 characters');
}

/**
 * Returns the states in which a request changes jobs: those to which its action applies, limited to the filter's
 * states, if given.
 */
export function statesOfRequest({ action, filter: { state = [] } }: BulkRequest): readonly JobState[] {
  const states = statesOfAction[action];
  return state.length === 0 ? states : states.filter((candidate) => state.includes(candidate));
}
