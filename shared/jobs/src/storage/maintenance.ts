/** The result of {@link Maintenance.rescue}. */
export interface RescueReport {
  /** Servers that were declared dead. */
  readonly deadServers: string[];
  /** Number of jobs returned to their queues. */
  readonly released: number;
  /** Number of jobs that failed because their last attempt was lost. */
  readonly failed: number;
}

export interface PromotionReport {
  /** Number of jobs that became ready. */
  readonly promoted: number;
  /** Milliseconds until the next scheduled job is due; 0 if more are due now; `null` if none is scheduled. */
  readonly nextDueMs: number | null;
}

export interface ResumptionReport {
  /** Number of queues, job types and recurring jobs that were resumed. */
  readonly resumed: number;
  /** Milliseconds until the next pause ends; 0 if more have ended; `null` if no pause has an end. */
  readonly nextDueMs: number | null;
}

/**
 * The background work that every server does. A job that cannot be processed is set aside and does not stop the
 * others.
 */
export interface Maintenance {
  /** Makes up to `limit` due jobs ready. */
  promoteDue(limit: number): Promise<PromotionReport>;
  /**
   * Resumes up to `limit` queues, job types and recurring jobs whose pause has ended, and records that in the audit. Claims
   * honour the end of a pause without it, except that they reach jobs of a paused type only if they have not passed them yet.
   */
  resumeDue(limit: number): Promise<ResumptionReport>;
  /**
   * Processes up to `limit` jobs that have ended: updates their batches, their dependents, and jobs blocked by their
   * concurrency keys. Resolves to the number processed. Unprocessed work is stored, so a crash loses nothing.
   */
  resolveDependencies(limit: number): Promise<number>;
  /**
   * Declares servers dead whose heartbeats have stopped. Takes back their claims, and all others that have expired or
   * belong to no registered server.
   */
  rescue(): Promise<RescueReport>;
  /**
   * Does the housekeeping: folds counters, creates partitions for the coming days and enforces retention. Cheap. Every server
   * calls this about once a second, or rarely while it resolves to `false` because there was nothing to do.
   */
  maintain(): Promise<boolean>;
}
