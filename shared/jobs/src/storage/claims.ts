import type { Claim, ClaimedJob } from '../job/job.js';

export interface ClaimRequest {
  readonly serverId: string;
  readonly queue: string;
  /** Maximum number of jobs to claim. */
  readonly limit: number;
  /** Length of the lease in milliseconds; it expires unless it is renewed. */
  readonly leaseMs: number;
}

/** Leases jobs to servers. Every write is fenced: it has no effect once its claim is no longer valid. */
export interface Claims {
  /**
   * Returns the queues that may have jobs for the server to claim. Costs about as much for a hundred queues as for one.
   * The result is only a hint: a claim may still find no job.
   *
   * @throws {ServerLostError} if this server has been declared dead
   */
  findReady(serverId: string, queues: readonly string[]): Promise<string[]>;
  /**
   * Claims the next ready jobs of a queue, lowest priority number first, then oldest first. Only jobs for which the
   * server registered a handler are claimed; the others stay in the queue for other servers.
   *
   * @throws {ServerLostError} if this server has been declared dead, so that no later claim succeeds
   */
  claim(request: ClaimRequest): Promise<ClaimedJob[]>;
  /** Renews leases. Returns the claims that are no longer valid. */
  renew(claims: readonly Claim[], leaseMs: number): Promise<Claim[]>;
  /**
   * Releases jobs: they are ready immediately, and the attempt does not count. Returns the claims that were no longer
   * valid.
   */
  release(claims: readonly Claim[]): Promise<Claim[]>;
  /**
   * Returns all valid claims of a server in a queue. A server calls this if the response to one of its claims was lost.
   */
  claimsOf(serverId: string, queue: string): Promise<Claim[]>;
}
