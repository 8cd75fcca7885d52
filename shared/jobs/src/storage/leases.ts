import type { Claim, Job } from '../job/job.js';

/** A claim with the state of its lease. */
export interface Lease extends Claim {
  readonly expiresAt: Date;
  /**
   * Whether the handler's transaction has locked the job. While the lock lasts, the lease cannot be renewed, but the
   * job is not rescued either.
   */
  readonly locked: boolean;
}

export interface StalledLeaseQuery {
  /** Only leases that expired at least this many milliseconds ago, by the storage's clock. */
  readonly expiredForMs: number;
  readonly limit: number;
}

/** Reads the leases of running jobs, which show whether servers still renew them. */
export interface Leases {
  /** Returns the lease of a job; `null` if the job is not being processed. */
  find(job: Pick<Job, 'id' | 'queue'>): Promise<Lease | null>;
  /**
   * Lists expired leases that have not been rescued and whose servers are still registered: such a server sends
   * heartbeats but does not renew its leases. Earliest expiry first; excludes `locked` leases.
   */
  listStalled(query: StalledLeaseQuery): Promise<Lease[]>;
}
