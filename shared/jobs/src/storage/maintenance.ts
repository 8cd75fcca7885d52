/** The result of {@link Maintenance.rescue}. */
export interface RescueReport {
  /** Ids of the servers that were declared dead. */
  readonly deadServers: string[];
  /** Number of jobs returned to their queues. */
  readonly released: number;
  /** Number of jobs that failed because their last attempt was lost. */
  readonly failed: number;
}

export interface PromotionReport {
  /** Number of jobs that became ready. */
  readonly promoted: number;
  /** Milliseconds until the next scheduled job is due; 0 if more may be due now; `null` if no job is scheduled. */
  readonly nextDueMs: number | null;
}

export interface ResumptionReport {
  /** Number of queues, job types and recurring jobs that were resumed. */
  readonly resumed: number;
  /** Milliseconds until the next pause ends; 0 if more have ended; `null` if no pause has an end. */
  readonly nextDueMs: number | null;
}

/**
 * The background work that every server does. A job that cannot be processed is set aside, so that it does not block
 * the others.
 */
export interface Maintenance {
  /** Makes up to `limit` due jobs ready. */
  promoteDue(limit: number): Promise<PromotionReport>;
  /**
   * Resumes up to `limit` queues, job types and recurring jobs whose pauses have ended, and records each resumption in
   * the audit log. Servers honour the end of a pause even before this is called, with one exception: jobs of a paused
   * type that a scan has already passed are claimed only afterwards.
   */
  resumeDue(limit: number): Promise<ResumptionReport>;
  /**
   * Processes up to `limit` jobs that have ended: updates their batches, their dependents, and the jobs blocked by
   * their concurrency keys. Resolves to the number processed. Pending work is stored, so a crash loses nothing.
   */
  resolveDependencies(limit: number): Promise<number>;
  /**
   * Declares servers dead whose heartbeats have stopped. Rescues their jobs, and all other jobs whose leases have
   * expired or whose servers are not registered.
   */
  rescue(): Promise<RescueReport>;
  /**
   * Does the housekeeping, such as folding counters, creating partitions for the coming days and enforcing retention. A
   * call is cheap. Every server makes one about once a second, and less often while the result is `false` because there
   * is nothing to do.
   */
  maintain(): Promise<boolean>;
}
