import type { Claim } from '../job/job.js';
import type { JobControl } from '../storage/job-control.js';

/** A cancellation that no wake-up told of is noticed after this. */
const intervalMs = 1_000;

export interface CancellerOptions {
  readonly control: JobControl;
  readonly running: () => Claim[];
  readonly cancel: (claims: readonly Claim[]) => void;
}

/** Finds out which running jobs somebody has cancelled. */
export class Canceller {
  readonly #options: CancellerOptions;

  constructor(options: CancellerOptions) {
    this.#options = options;
  }

  async runOnce(): Promise<number> {
    const { control, running, cancel } = this.#options;
    const claims = running();
    if (claims.length > 0) cancel(await control.cancellations(claims));
    return intervalMs;
  }
}
