import { checkInteger } from '../job/bounds.js';
import { checkOptions } from '../job/options.js';
import type { FinishedState } from '../job/state.js';

export interface RescueReport {
  /** Ids of the servers that were declared dead. */
  readonly deadServers: string[];
  /** Number of jobs returned to their queues. */
  readonly released: number;
  /** Number of jobs that failed because their last allowed attempt was lost. */
  readonly failed: number;
}

export interface PromotionReport {
  /** Number of jobs that became ready. */
  readonly promoted: number;
  /** Milliseconds until the next scheduled job is due; 0 if more jobs may be due now; `null` if no job is scheduled. */
  readonly nextDueMs: number | null;
}

export interface ResumptionReport {
  /** Number of queues, job types and recurring jobs that were resumed. */
  readonly resumed: number;
  /** Milliseconds until the next pause ends; 0 if more pauses have already ended; `null` if no pause has an end. */
  readonly nextDueMs: number | null;
}

/**
 * The background work that every server performs. A job or other item that cannot be processed is set aside (see
 * {@link SetAside}), so that it does not block the other items.
 */
export interface Maintenance {
  /** Makes up to `limit` due scheduled jobs ready. */
  promoteDue(limit: number): Promise<PromotionReport>;
  /**
   * Resumes up to `limit` queues, job types and recurring jobs whose pauses have ended. Records each resumption in the
   * audit log. Servers can claim jobs again as soon as the pause of a queue or job type ends, even before this call.
   * The exception is jobs of a paused type that a queue scan has already skipped: they wait for this call.
   */
  resumeDue(limit: number): Promise<ResumptionReport>;
  /**
   * Processes up to `limit` jobs that have ended: updates their batches and dependents, and unblocks jobs with the same
   * concurrency keys. Returns the number of jobs processed.
   */
  resolveDependencies(limit: number): Promise<number>;
  /**
   * Declares servers dead if their heartbeats have stopped, and rescues their jobs. Also rescues running jobs if their
   * leases have expired or their servers are not registered.
   */
  rescue(): Promise<RescueReport>;
  /**
   * Does the housekeeping that is due, such as aggregating counters, creating partitions for the coming days and
   * enforcing retention. Returns `false` if there was nothing to do. Every server calls this about once a second, or
   * less often after `false`.
   */
  maintain(): Promise<boolean>;
}

/** How long finished jobs are kept, in days, by final state. */
export type RetentionDays = Readonly<Record<FinishedState, number>>;

/**
 * Number of days after which an idle queue is deleted. A queue is idle while it has no unfinished jobs, consumers,
 * settings or recurring jobs.
 */
export const idleQueueDays = 30;

const defaultDays: RetentionDays = { done: 7, failed: 30, cancelled: 7 };

/**
 * Returns the retention periods with defaults filled in: 7 days for `done` and `cancelled`, 30 for `failed`.
 *
 * @throws {RangeError} if a value is not an integer from 1 to 3650; the message names the option
 */
export function retentionOf(days: Partial<RetentionDays> = {}): RetentionDays {
  checkOptions('retentionDays', days, { done: true, failed: true, cancelled: true });
  const all = { ...defaultDays, ...days };
  for (const [state, value] of Object.entries(all))
    checkInteger(`retentionDays.${state}`, value, { min: 1, max: 3_650 });
  return all;
}
