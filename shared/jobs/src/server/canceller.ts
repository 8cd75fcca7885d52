import type { Claim } from '../job/job.js';
import type { JobControl } from '../storage/job-control.js';

/** Polling interval in milliseconds. A poll finds cancellations even if a notification was lost. */
const intervalMs = 1_000;

export interface CancellerOptions {
  readonly control: JobControl;
  readonly running: () => Claim[];
  readonly cancel: (claims: readonly Claim[]) => void;
}

/** Polls the storage for requests to cancel this server's running jobs, and aborts the signals of these jobs. */
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
