import type { Claim } from '../job/job.js';
import type { Claims } from '../storage/claims.js';

export interface LeaseRenewerOptions {
  readonly store: Claims;
  readonly leaseMs: number;
  /** Returns the claims whose leases must be renewed. */
  readonly claims: () => Claim[];
  readonly onLost: (claims: readonly Claim[]) => void;
}

/**
 * Renews the leases on all jobs that this server has claimed. Runs on the main thread on purpose. If the event loop is
 * blocked, the leases expire and other servers run the jobs, even if the heartbeat thread still works.
 */
export class LeaseRenewer {
  readonly #options: LeaseRenewerOptions;

  constructor(options: LeaseRenewerOptions) {
    this.#options = options;
  }

  async runOnce(): Promise<number> {
    const { store, leaseMs, claims, onLost } = this.#options;
    const held = claims();
    if (held.length > 0) {
      const lost = await store.renew(held, leaseMs);
      if (lost.length > 0) onLost(lost);
    }
    return leaseMs / 5;
  }
}
