import type { JobState } from '../job/state.js';
import type { ActionOptions } from './audit-log.js';
import { isUnrestricted, type JobFilter } from './job-filter.js';
import type { JobCount } from './job-reader.js';

/** What can be done to many jobs at once, as the methods of `JobControl` do it to one. */
export const bulkActions = ['cancel', 'retry', 'run', 'delete'] as const;

export type BulkAction = (typeof bulkActions)[number];

/** The states in which an action finds its jobs. Jobs in others it leaves alone, however well they match. */
export const statesOfAction: Readonly<Record<BulkAction, readonly JobState[]>> = {
  cancel: ['awaiting', 'scheduled', 'enqueued', 'processing'],
  retry: ['failed', 'cancelled'],
  run: ['awaiting', 'scheduled'],
  delete: ['done', 'failed', 'cancelled'],
};

/** More ids than this are no selection that a person made. */
const maxIds = 1_000;

export interface BulkRequest {
  readonly action: BulkAction;
  /** Which jobs; with `id`, at most 1000. Every job is meant only by naming states, as a filter may be empty by mistake. */
  readonly filter: JobFilter;
  /** Who asked for it, for those who look at it later; at most 300 characters. */
  readonly requestedBy?: string | null;
}

/**
 * - `running`: servers work on it, or will as soon as one is there
 * - `done`: every job that matched has been dealt with
 * - `cancelled`: somebody ended it; what it had done stays done
 * - `failed`: it met an error that would come again; what it had done stays done
 */
export type BulkState = 'running' | 'done' | 'cancelled' | 'failed';

/** One action on many jobs, carried out in the background, chunk by chunk. */
export interface BulkOperation {
  /** UUIDv7: sorts by the time of its start. */
  id: string;
  action: BulkAction;
  filter: JobFilter;
  state: BulkState;
  /** How many jobs it was for when it started; `null` if to count them took too long. */
  matched: JobCount | null;
  /** Jobs looked at so far: the sum of those changed and those skipped. */
  seen: number;
  changed: number;
  /** Jobs that did not allow the action when it came to them, and ids that are no job's. */
  skipped: number;
  requestedBy: string | null;
  createdAt: Date;
  finishedAt: Date | null;
  /** What ended one that failed. */
  error: string | null;
}

export interface BulkListQuery {
  readonly limit: number;
  /** Only operations older than the one with this id. */
  readonly after?: string;
}

/**
 * Actions on all jobs of a filter. Servers carry them out: any of them, whichever is free, and another goes on where one
 * died. Jobs enqueued after an operation was started are left alone; so are, to `retry` and `delete`, those that finished
 * after it. A finished operation is kept for 30 days.
 */
export interface BulkOperations {
  /**
   * Starts an operation. Resolves as soon as it is stored. In a transaction of the caller's, it starts when that commits.
   *
   * @throws {RangeError} if the action is none, there are too many ids, or the filter lets every job through
   */
  start(order: BulkRequest, options?: ActionOptions<BulkOperation>): Promise<BulkOperation>;
  /** `null` if there is no such operation. */
  find(id: string): Promise<BulkOperation | null>;
  /** Newest first. */
  list(query: BulkListQuery): Promise<BulkOperation[]>;
  /** Ends a running operation before its next chunk; one that has ended stays as it is. `null` if there is none. */
  cancel(id: string, options?: ActionOptions<BulkOperation | null>): Promise<BulkOperation | null>;
  /** Carries one running operation a chunk further, for servers. `false`: there is none to carry on. */
  advance(): Promise<boolean>;
}

/** @throws {RangeError} as `start` does */
export function checkBulkRequest({ action, filter, requestedBy }: BulkRequest): void {
  if (!bulkActions.includes(action))
    throw new RangeError(`"${action}" is no action on many jobs: ${bulkActions.join(', ')} are`);
  if (isUnrestricted(filter))
    throw new RangeError('A bulk operation needs a filter; to mean every job, name the states');
  if ((filter.id?.length ?? 0) > maxIds)
    throw new RangeError(`A bulk operation takes at most ${maxIds} ids; a filter reaches more jobs`);
  if ((requestedBy?.length ?? 0) > 300) throw new RangeError('requestedBy has at most 300 characters');
}

/** The states in which the action finds jobs of the filter. */
export function statesOfRequest({ action, filter: { state = [] } }: BulkRequest): readonly JobState[] {
  const states = statesOfAction[action];
  return state.length === 0 ? states : states.filter((candidate) => state.includes(candidate));
}
