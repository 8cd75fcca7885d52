import type { Clock } from './clock.js';
import type { Claim, Job, LostServer } from '../job/job.js';

/** How long a claim holds unless it is renewed. */
export interface Lease extends Claim {
  readonly expiresAt: Date;
  /** A transaction of its own handler holds the job: it is not taken back, though nobody can renew the lease meanwhile. */
  readonly locked: boolean;
}

export interface StalledLeaseQuery {
  /** Only those that ran out longer ago than so many milliseconds, by the storage's clock. */
  readonly expiredForMs: number;
  readonly limit: number;
}

/** What people look at to tell whether jobs that run really run. */
export interface LeaseReader {
  /** `null` unless the job is being processed. */
  findLease(job: Pick<Job, 'id' | 'queue'>): Promise<Lease | null>;
  /**
   * Leases that have run out and were not taken back, of servers that are still registered: their heartbeats go on, but
   * what runs the jobs does not. The longest ago first; those that are `locked` are left out.
   */
  listStalledLeases(query: StalledLeaseQuery): Promise<Lease[]>;
}

/** The same of servers. */
export interface LivenessReader extends LeaseReader {
  /** Servers that were declared dead within a day, the latest first; 100 at most. Those that stopped in order are not among them. */
  listLostServers(): Promise<LostServer[]>;
  /** What time it is for the storage, which all times of jobs and heartbeats are told by. */
  readClock(): Promise<Date>;
  /**
   * The same clock, as far as this process knows it without asking: right to a few milliseconds once the storage is open,
   * however wrong this machine's clock is.
   */
  readonly clock: Clock;
}
