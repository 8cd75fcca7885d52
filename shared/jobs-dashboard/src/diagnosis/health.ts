import { StorageUnavailableError } from '@longshore/jobs';
import { findWarnings } from './warnings.js';
import { warningCount } from './overall-status.js';
import type { PageContext } from '../pages/page.js';
import { ReadTooSlowError, withDeadline } from '../reading/deadline.js';
import { readSituation } from './situation.js';

/** The overall state, shown on every page. */
export interface Health {
  readonly tone: 'calm' | 'attention';
  readonly text: string;
}

/** Minimum time between the starts of two checks, in milliseconds. */
const EVERY_MS = 10_000;
/** Results older than this, in milliseconds, are not shown. */
const KEPT_MS = 60_000;

const lost: Health = { tone: 'attention', text: 'The storage does not respond' };

/**
 * Checks the overall state for all viewers of this process. Pages never wait for a check and show the latest result.
 */
export class HealthWatch {
  readonly #context: PageContext;
  #health: Health | null = null;
  #knownAtMs = 0;
  #readAtMs = Number.NEGATIVE_INFINITY;

  constructor(context: PageContext) {
    this.#context = context;
  }

  /** The latest result; `null` if it is more than a minute old. Starts a new check at most every ten seconds. */
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
      // Other errors are reported by the page that reads the same data.
      this.#health =
        error instanceof StorageUnavailableError || error instanceof ReadTooSlowError ? lost : null;
    }
    this.#knownAtMs = this.#context.now();
  }
}
