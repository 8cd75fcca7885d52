/** What {@link Maintenance.rescue} found and repaired. */
export interface RescueReport {
  /** Servers that it declared dead. */
  readonly deadServers: string[];
  /** Jobs returned to their queues to run again. */
  readonly released: number;
  /** Jobs whose last attempt was lost: failed. */
  readonly failed: number;
}

export interface PromotionReport {
  /** Jobs that became ready. */
  readonly promoted: number;
  /** Milliseconds until the next scheduled job is due; 0 if more are due already; `null` if none is scheduled. */
  readonly nextDueMs: number | null;
}

/** The work of the background roles that every server runs. A job that cannot be moved is set aside and stops no other. */
export interface Maintenance {
  /** Makes at most `limit` scheduled jobs that are due ready. */
  promoteDue(limit: number): Promise<PromotionReport>;
  /**
   * Relays at most `limit` ends of jobs to what depends on them: batches, dependents, jobs blocked by a concurrency key.
   * Resolves to how many it relayed. Each is kept until it has been dealt with, so a crash loses none.
   */
  resolveDependencies(limit: number): Promise<number>;
  /** Declares silent servers dead and takes back every claim that is theirs, has expired or has no owner. */
  rescue(): Promise<RescueReport>;
  /** Housekeeping: counters, partitions for coming days, retention. Cheap; every server calls it about once a second. */
  maintain(): Promise<void>;
}
