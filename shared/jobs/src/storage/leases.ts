import type { Claim, Job } from '../job/job.js';

/** A claim with the end of its lease. */
export interface Lease extends Claim {
  readonly expiresAt: Date;
  /**
   * Whether the handler's own transaction locks the job: it is not taken back, although its lease cannot be renewed.
   */
  readonly locked: boolean;
}

export interface StalledLeaseQuery {
  /** Only leases that expired at least this many milliseconds ago, by the storage's clock. */
  readonly expiredForMs: number;
  readonly limit: number;
}

/** Shows whether running jobs make progress. */
export interface Leases {
  /** Returns `null` unless the job is being processed. */
  find(job: Pick<Job, 'id' | 'queue'>): Promise<Lease | null>;
  /**
   * Lists expired leases that have not been taken back, of servers that are still registered: the server sends
   * heartbeats, but does not renew its leases. Longest expired first, without `locked` ones.
   */
  listStalled(query: StalledLeaseQuery): Promise<Lease[]>;
}
