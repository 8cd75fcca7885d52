import type { Claim, ClaimedJob, Completion, Job, Outcome } from '../job/job.js';
import type { TransactionWork } from './transaction.js';

export interface ClaimRequest {
  readonly serverId: string;
  readonly queue: string;
  readonly limit: number;
  /** Duration of the leases in milliseconds. A lease expires unless it is renewed within this time. */
  readonly leaseMs: number;
}

/** Leases jobs to servers. Every write is fenced: it has no effect if the claim is no longer valid. */
export interface Claims {
  /**
   * Returns which of these queues may have jobs for the server to claim. The result is only a hint: a claim may still
   * find no job.
   *
   * @throws {ServerLostError} if this server has been declared dead
   */
  findReady(serverId: string, queues: readonly string[]): Promise<string[]>;
  /**
   * Claims the next ready jobs in a queue: lowest priority number first, then in order of arrival. If the server
   * registered job names, claims only jobs with these names; the others stay in the queue for other servers.
   *
   * @throws {ServerLostError} if this server has been declared dead; it can never claim jobs again
   */
  claim(request: ClaimRequest): Promise<ClaimedJob[]>;
  /**
   * Extends leases to `leaseMs` milliseconds from now. A job that is locked by its handler's transaction keeps its old
   * lease. Returns the claims that are no longer valid.
   */
  renew(claims: readonly Claim[], leaseMs: number): Promise<Claim[]>;
  /**
   * Puts claimed jobs back into their queues. They are ready immediately, and the attempts do not count. Returns the
   * claims that were no longer valid.
   */
  release(claims: readonly Claim[]): Promise<Claim[]>;
  /**
   * Returns all valid claims of a server in a queue. If the response to a {@link claim} was lost, the server calls this
   * to find out which jobs it claimed.
   */
  claimsOf(serverId: string, queue: string): Promise<Claim[]>;
}

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

/** Stores the outcomes of attempts. Every write is fenced: it has no effect if the claim is no longer valid. */
export interface Completions {
  /**
   * Stores the outcomes of several attempts. Returns the claims that were no longer valid; their outcomes are ignored.
   * Delays are clamped to the allowed range. If the data of an outcome cannot be stored, that job fails with an error
   * that gives the reason, or is set aside (see {@link SetAside}). The other outcomes are not affected.
   */
  complete(completions: readonly Completion[]): Promise<Claim[]>;
  /**
   * Runs a job's work and marks the job as done in the same transaction. The claim is checked first and stays locked
   * until the commit. A crash therefore cannot make the work take effect twice.
   *
   * @param work receives the transaction's client and returns the job's result
   * @param signal when aborted, rolls back the transaction, even while `work` is running. The call then rejects with
   *   the signal's reason. An abort during the commit has no effect
   * @throws {ClaimLostError} if the claim is not valid; `work` was either not started or rolled back
   * @throws {TypeError} if the storage does not support transactions
   */
  completeInTransaction(claim: Claim, work: TransactionWork, signal?: AbortSignal): Promise<void>;
}

/**
 * Returns the outcome of an attempt whose job an operator has asked to cancel. The request wins over every outcome but
 * `done`: the job neither fails nor goes back to its queue.
 */
export function outcomeIfCancelled(outcome: Outcome): Outcome {
  if (outcome.kind === 'done' || outcome.kind === 'cancelled') return outcome;
  return { kind: 'cancelled', error: 'error' in outcome ? outcome.error : putOffError };
}

const putOffError = {
  name: 'JobCancelled',
  message: 'The job was cancelled when its handler snoozed it or began to wait',
  stack: null,
};
