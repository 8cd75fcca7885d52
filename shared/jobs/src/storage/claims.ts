import type { Claim, ClaimedJob } from '../job/job.js';

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
