/** What {@link Maintenance.rescue} did. */
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

/**
 * The background work that every server does. A job that cannot be processed is set aside and does not stop the
 * others.
 */
export interface Maintenance {
  /** Makes up to `limit` due jobs ready. */
  promoteDue(limit: number): Promise<PromotionReport>;
  /**
   * Processes up to `limit` ended jobs: updates batches, dependents and jobs blocked by a concurrency key. Resolves
   * to the number processed. Each entry is kept until it has been processed, so a crash loses none.
   */
  resolveDependencies(limit: number): Promise<number>;
  /**
   * Declares servers dead whose heartbeats have stopped, and takes back every claim that is theirs, has expired or
   * has no owner.
   */
  rescue(): Promise<RescueReport>;
  /**
   * Housekeeping: counters, partitions for the coming days, retention. Cheap; every server calls it about once a
   * second.
   */
  maintain(): Promise<void>;
}
