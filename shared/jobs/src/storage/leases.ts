import type { Claim, Job } from '../job/job.js';

/** A claim with the end of its lease. */
export interface Lease extends Claim {
  readonly expiresAt: Date;
  /**
   * Whether the handler's own transaction locks the job. While it does, the lease cannot be renewed, but the job is
   * not taken back either.
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
  /** Returns `null` unless the job is being processed. */
  find(job: Pick<Job, 'id' | 'queue'>): Promise<Lease | null>;
  /**
   * Lists leases that have expired but have not been taken back, although their servers are still registered: such a
   * server sends heartbeats but does not renew its leases. The longest expired come first; `locked` leases are not
   * included.
   */
  listStalled(query: StalledLeaseQuery): Promise<Lease[]>;
}
