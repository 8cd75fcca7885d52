import type { Claim, Job } from '../job/job.js';

/** How long a claim holds unless it is renewed. */
export interface Lease extends Claim {
  readonly expiresAt: Date;
  /** A transaction of its own handler holds the job: it is not taken back, though nobody can renew the lease until then. */
  readonly locked: boolean;
}

export interface StalledLeaseQuery {
  /** Only leases that expired longer ago than this many milliseconds, by the storage's clock. */
  readonly expiredForMs: number;
  readonly limit: number;
}

/** Shows whether jobs in processing are making progress. */
export interface Leases {
  /** `null` unless the job is being processed. */
  find(job: Pick<Job, 'id' | 'queue'>): Promise<Lease | null>;
  /**
   * Leases that have expired and were not taken back, of servers that are still registered: their heartbeats go on, but
   * what runs the jobs does not. Longest expired first, without those that are `locked`.
   */
  listStalled(query: StalledLeaseQuery): Promise<Lease[]>;
}
