import type { Claim, ClaimedJob } from '../job/job.js';

export interface ClaimRequest {
  readonly serverId: string;
  readonly queue: string;
  /** At most this many jobs. */
  readonly limit: number;
  /** The lease ends this many milliseconds from now unless it is renewed. */
  readonly leaseMs: number;
}

/** Leases jobs to servers. Every write is fenced by its claim. */
export interface Claims {
  /**
   * Claims the next ready jobs of a queue, lowest priority number first, then oldest first; only jobs whose names the server
   * registered handlers for. The others stay in the queue for a server that knows them.
   *
   * @throws {ServerLostError} if this server has been declared dead, so that no claim slips in afterwards
   */
  claim(request: ClaimRequest): Promise<ClaimedJob[]>;
  /** Extends leases. Returns the claims that no longer hold. */
  renew(claims: readonly Claim[], leaseMs: number): Promise<Claim[]>;
  /** Gives jobs back unstarted: ready at once, the attempt not counted. Returns the claims that no longer held. */
  release(claims: readonly Claim[]): Promise<Claim[]>;
  /** Every claim that a server holds in a queue, for one that lost the answer to its request. */
  claimsOf(serverId: string, queue: string): Promise<Claim[]>;
}
