import type { Claim, Job } from '../job/job.js';

/** A server's lease on a running job: the claim, and when the lease expires. */
export interface Lease extends Claim {
  readonly expiresAt: Date;
  /**
   * Whether the handler's transaction has locked the job. While the job is locked, its lease cannot be renewed, but the
   * job is not rescued even if the lease expires.
   */
  readonly locked: boolean;
}

export interface StalledLeaseQuery {
  /** Only leases that expired at least this many milliseconds ago, by the storage's clock. */
  readonly expiredForMs: number;
  readonly limit: number;
}

/** Reads the leases of running jobs, for example to find leases that are no longer renewed. */
export interface Leases {
  /** Returns the lease of a job; `null` if the job is not being processed. */
  find(job: Pick<Job, 'id' | 'queue'>): Promise<Lease | null>;
  /**
   * Lists expired leases whose server is still registered and whose job has not been rescued yet. Excludes `locked`
   * leases. Sorted by expiry time, earliest first.
   */
  listStalled(query: StalledLeaseQuery): Promise<Lease[]>;
}
