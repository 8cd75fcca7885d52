import { StorageUnavailableError } from '@longshore/jobs';
import { findWarnings } from './warnings.js';
import { warningCount } from './overall-status.js';
import type { ReadingContext } from '../reading/dashboard-reader.js';
import { ReadTooSlowError, withDeadline } from '../cache/deadline.js';
import { readSituation } from './situation.js';
import type { WarningWatch } from './warning-watch.js';

/** A one-line summary of the current warnings, shown on every page. */
export interface Health {
  readonly tone: 'calm' | 'attention';
  readonly text: string;
}

/** Minimum time between the starts of two checks, in milliseconds. */
const EVERY_MS = 10_000;
/** Maximum age of a result that is shown, in milliseconds. */
const KEPT_MS = 60_000;

const lost: Health = { tone: 'attention', text: 'The storage does not respond' };

/**
 * Checks the overall state for all viewers of this process. Pages show the latest result and never wait for a check.
 */
export class HealthWatch {
  readonly #context: ReadingContext & { readonly warnings: WarningWatch };
  #health: Health | null = null;
  #knownAtMs = 0;
  #readAtMs = Number.NEGATIVE_INFINITY;

  constructor(context: ReadingContext & { readonly warnings: WarningWatch }) {
    this.#context = context;
  }

  /**
   * The latest result; `null` if there is none from the last minute, or if the latest check failed for a reason other
   * than an unresponsive storage. Starts a new check if the last one started at least ten seconds ago.
   */
  get latest(): Health | null {
    const nowMs = this.#context.now();
    if (nowMs - this.#readAtMs >= EVERY_MS) {
      this.#readAtMs = nowMs;
      void this.#refresh();
    }
    return nowMs - this.#knownAtMs > KEPT_MS ? null : this.#health;
  }

  async #refresh(): Promise<void> {
    try {
      const situation = await withDeadline(readSituation(this.#context), this.#context.readTimeoutMs);
      const warnings = this.#context.warnings.judge(findWarnings(situation), situation.nowMs);
      this.#health =
        warnings.length === 0
          ? { tone: 'calm', text: 'All is well' }
          : { tone: 'attention', text: warningCount(warnings) };
    } catch (error) {
      // After any other error, no state is shown. The page reads the same data and reports the error.
      this.#health =
        error instanceof StorageUnavailableError || error instanceof ReadTooSlowError ? lost : null;
    }
    this.#knownAtMs = this.#context.now();
  }
}
