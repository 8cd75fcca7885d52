import { shown } from '../job/shown.js';
import type { FinishedState, JobState } from '../job/state.js';
import {
  hasOptions,
  isBoolean,
  isDate,
  isJobName,
  isListOf,
  isOneOf,
  isStorableTime,
  isText,
  orNull,
} from '../job/argument-check.js';
import { checkOptions, type OptionNames } from '../job/options.js';
import type { ActionOptions } from './audit-log.js';
import { type BulkAction, bulkActions, statesOfAction } from './job-control.js';
import { checkFilter, isUnrestricted, type JobFilter } from './job-filter.js';
import type { JobCount } from './job-reader.js';

const maxIds = 1_000;

export interface BulkRequest {
  readonly action: BulkAction;
  /**
   * Selects the jobs; may contain at most 1000 ids. An empty filter is rejected, because it may be a mistake. To select
   * every job, list all states.
   */
  readonly filter: JobFilter;
  /** Who requested the operation, for display; at most 300 characters. */
  readonly requestedBy?: string | null;
  /**
   * The preview that the user confirmed. The operation changes only jobs that the preview covers. Without a preview,
   * the operation covers all jobs that match when it is created.
   */
  readonly confirmed?: BulkPreview;
  /**
   * For `retry`: whether to also restore dependents, as `JobControl.retry` does with the same option. They
   * count as `restored`, not as `changed`. `false` by default.
   */
  readonly dependents?: boolean;
  /** The queues in which dependents may be restored, as for `JobControl.retry`; by default, and if `null`, all. */
  readonly visibleQueues?: readonly string[] | null;
  /** Required for `reschedule`, and only allowed there: when the jobs become ready. */
  readonly runAt?: Date | null;
  /** Required for `rename`, and only allowed there: the new name of the jobs. */
  readonly toName?: string | null;
  /** Why, as for `JobControl.cancel`; `null` by default. */
  readonly reason?: string | null | undefined;
  /**
   * How long to wait before changing anything, in milliseconds, up to a day; 0 by default. If the operation is
   * cancelled during this time, no job is changed.
   */
  readonly delayMs?: number;
}

const isAction = isOneOf(bulkActions);

const bulkOptions: OptionNames<BulkRequest> = {
  action: isAction,
  filter: true,
  requestedBy: orNull(isText),
  confirmed: hasOptions<BulkPreview>({ count: true, asOf: isDate, oldestSearchedIds: true }, ['asOf']),
  dependents: isBoolean,
  visibleQueues: orNull(isListOf(isText)),
  runAt: orNull(isStorableTime),
  toName: orNull(isJobName),
  reason: orNull(isText),
  delayMs: true,
};

/** Maximum delay of a bulk operation, in milliseconds: a day. */
const maxDelayMs = 86_400_000;

/**
 * The jobs that an operation would change. An operation confirmed with this preview changes only these jobs. If the
 * count is exact, the operation changes at most that many jobs.
 */
export interface BulkPreview {
  /** `null` if the jobs could not be counted, for example because counting took too long. */
  readonly count: JobCount | null;
  /** When the jobs were counted, by the storage's clock. Jobs created or finished later are not included. */
  readonly asOf: Date;
  /**
   * For each finished state in which only the newest jobs were searched for the filter's words: the id of the oldest
   * job searched. The operation excludes older jobs in that state.
   */
  readonly oldestSearchedIds: Readonly<Partial<Record<FinishedState, string>>>;
}

/**
 * The state of a bulk operation:
 *
 * - `pending`: it has not changed anything yet, because its delay has not passed
 * - `running`: servers are working on it, or will as soon as one is available
 * - `done`: every matching job has been processed
 * - `cancelled`: an operator stopped it; jobs already changed stay changed
 * - `failed`: a permanent error stopped it; jobs already changed stay changed
 */
export type BulkState = 'pending' | 'running' | 'done' | 'cancelled' | 'failed';

/** An action on many jobs. Servers carry it out in the background, one chunk of jobs at a time. */
export interface BulkOperation {
  /** UUIDv7, which sorts by creation time. */
  id: string;
  action: BulkAction;
  filter: JobFilter;
  state: BulkState;
  /**
   * Number of jobs that matched when the preview was made or, without a preview, when the operation was created; `null`
   * if the jobs could not be counted, for example because counting took too long, or because the operation was created
   * in a caller's transaction.
   */
  matched: JobCount | null;
  /** Number of jobs processed so far: changed plus skipped. */
  seen: number;
  changed: number;
  /** Number of dependents of retried jobs that wait again. */
  restored: number;
  /**
   * Number of selected jobs that were not changed: they no longer existed, no longer matched, were in a state that does
   * not allow the action, or were set aside.
   */
  skipped: number;
  requestedBy: string | null;
  /** Why the jobs are changed; `null` if no reason was given. */
  reason: string | null;
  /** The new time of rescheduled jobs; `null` for other actions. */
  runAt: Date | null;
  /** The new name of renamed jobs; `null` for other actions. */
  toName: string | null;
  createdAt: Date;
  /** When the operation starts to change jobs: `createdAt` plus the requested delay. */
  startsAt: Date;
  finishedAt: Date | null;
  /** The error that stopped the operation; `null` if there is none. */
  error: string | null;
}

export interface ChangedJobsQuery {
  /** Which jobs come first, by creation time; `newest` by default. */
  readonly order?: 'newest' | 'oldest';
  readonly limit: number;
  /** Only jobs that follow the job with this id in the chosen order. */
  readonly after?: string;
}

export interface BulkListQuery {
  /** Which operations come first, by creation time; `newest` by default. */
  readonly order?: 'newest' | 'oldest';
  readonly limit: number;
  /** Number of operations to skip; 0 by default. */
  readonly offset?: number;
  /** Only operations that follow the operation with this id in the chosen order. */
  readonly after?: string;
}

/**
 * Applies actions to all jobs that match a filter. Servers run the operations. If a server dies, another server
 * continues.
 *
 * An operation skips jobs enqueued after its preview or, without a preview, after its creation. `retry` and `delete`
 * also skip jobs that finished after that time. The Postgres storage keeps a finished operation for 30 days.
 */
export interface BulkOperations {
  /**
   * Counts the jobs that a request would change now. The result can be passed to {@link start} as `confirmed`.
   *
   * @throws {RangeError} if the action is unknown, or the filter is empty or contains too many ids
   */
  preview(request: Pick<BulkRequest, 'action' | 'filter'>): Promise<BulkPreview>;
  /**
   * Starts an operation. Resolves as soon as the operation is stored. If the caller passes a transaction, the operation
   * starts when that transaction commits.
   *
   * @throws {RangeError} if the action is unknown, the filter is empty or contains too many ids, `requestedBy` is too
   *   long, the delay is out of bounds, or the time of jobs to reschedule or the name of jobs to rename is missing or
   *   invalid
   */
  start(request: BulkRequest, options?: ActionOptions<BulkOperation>): Promise<BulkOperation>;
  find(id: string): Promise<BulkOperation | null>;
  /** Lists operations; newest first, unless the query says otherwise. */
  list(query: BulkListQuery): Promise<BulkOperation[]>;
  /** Counts all operations. May stop counting at 10,000; the count is then marked as inexact. */
  count(): Promise<JobCount>;
  /**
   * Lists the ids of the jobs that an operation has changed, by creation. Includes jobs that have since been deleted.
   */
  listChanged(id: string, query: ChangedJobsQuery): Promise<string[]>;
  /**
   * Stops a pending or running operation before its next chunk of jobs; has no effect if the operation has ended.
   * Returns the operation; `null` if it does not exist.
   */
  cancel(id: string, options?: ActionOptions<BulkOperation | null>): Promise<BulkOperation | null>;
  /** Processes one chunk of a running operation; called by servers. Returns `false` if there was nothing to process. */
  advance(): Promise<boolean>;
}

/**
 * Checks a request before it is started.
 *
 * @throws {RangeError} as {@link BulkOperations.start} does
 * @throws {TypeError} if the request or its filter has an unknown member, or one of the wrong kind
 */
export function checkBulkRequest(request: BulkRequest): void {
  checkSelection(request);
  const { action, requestedBy, delayMs = 0, runAt = null, toName = null } = request;
  if ((runAt !== null) !== (action === 'reschedule'))
    throw new RangeError(
      action === 'reschedule' ? 'Rescheduling requires runAt' : `runAt is not possible with ${action}`,
    );
  if ((toName !== null) !== (action === 'rename'))
    throw new RangeError(
      action === 'rename' ? 'Renaming requires toName' : `toName is not possible with ${action}`,
    );
  if ((requestedBy?.length ?? 0) > 300) throw new RangeError('requestedBy must have at most 300 characters');
  if (!(typeof delayMs === 'number' && delayMs >= 0 && delayMs <= maxDelayMs))
    throw new RangeError(`delayMs must be a number from 0 to ${maxDelayMs}, not ${shown(delayMs)}`);
}

/**
 * Checks the action and the filter of a request before it is previewed, and that it has no unknown members.
 *
 * @throws {RangeError} as {@link BulkOperations.preview} does
 * @throws {TypeError} if the request or its filter has an unknown member, or one of the wrong kind
 */
export function checkSelection(request: Pick<BulkRequest, 'action' | 'filter'>): void {
  checkOptions('A bulk request', request, bulkOptions);
  const { action, filter } = request;
  isAction('A bulk request: action', action);
  checkFilter(filter);
  if (isUnrestricted(filter))
    throw new RangeError('A bulk operation requires a filter; to select every job, list the states');
  if ((filter.id?.length ?? 0) > maxIds)
    throw new RangeError(
      `A bulk operation accepts at most ${maxIds} ids; to select more jobs, use other filters`,
    );
}

/**
 * Returns the states in which a request can change jobs: the states to which the action applies, limited to those in
 * the filter if it lists any.
 */
export function statesOfRequest({
  action,
  filter: { state = [] },
}: Pick<BulkRequest, 'action' | 'filter'>): readonly JobState[] {
  const states = statesOfAction[action];
  return state.length === 0 ? states : states.filter((candidate) => state.includes(candidate));
}
