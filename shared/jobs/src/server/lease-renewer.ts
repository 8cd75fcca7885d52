import type { Claim } from '../job/job.js';
import type { Claims } from '../storage/claims.js';

export interface LeaseRenewerOptions {
  readonly store: Claims;
  readonly leaseMs: number;
  /** Returns the claims that this server currently holds. */
  readonly claims: () => Claim[];
  readonly onLost: (claims: readonly Claim[]) => void;
}

/**
 * Renews the leases of all held claims. Runs on the main thread on purpose: a process whose event loop is blocked stops
 * renewing, so its jobs are released even though its heartbeat thread keeps running.
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
