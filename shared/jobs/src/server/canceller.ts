import type { Claim } from '../job/job.js';
import type { JobControl } from '../storage/job-control.js';

/** Polling interval in milliseconds. A poll finds cancellations even if a notification was lost. */
const intervalMs = 1_000;

export interface CancellerOptions {
  readonly control: JobControl;
  /** Returns the claims on all jobs that run on this server or wait for a free slot. */
  readonly claims: () => Claim[];
  readonly cancel: (claims: readonly Claim[]) => Promise<void>;
}

/** Polls the storage for requests to cancel this server's jobs, and cancels them. */
export class Canceller {
  readonly #options: CancellerOptions;

  constructor(options: CancellerOptions) {
    this.#options = options;
  }

  async runOnce(): Promise<number> {
    const { control, cancel } = this.#options;
    const claims = this.#options.claims();
    if (claims.length > 0) await cancel(await control.cancellations(claims));
    return intervalMs;
  }
}
