import { StorageUnavailableError } from '@longshore/jobs';
import { findWarnings } from './warnings.js';
import { counted } from '../format/count.js';
import type { PageContext } from '../pages/page.js';
import { ReadTooSlowError, withDeadline } from '../reading/deadline.js';
import { readSituation } from './situation.js';

/** The overall state, shown on every page. */
export interface Health {
  readonly tone: 'calm' | 'attention';
  readonly text: string;
}

/** How often it is checked at most, in milliseconds. */
const EVERY_MS = 10_000;
/** Older results are not shown, in milliseconds. */
const KEPT_MS = 60_000;

const lost: Health = { tone: 'attention', text: 'The storage does not answer' };

/**
 * Checks the overall state for all viewers of this process. Pages never wait for it and show the latest
 * result.
 */
export class HealthWatch {
  readonly #context: PageContext;
  #health: Health | null = null;
  #knownAtMs = 0;
  #askedAtMs = Number.NEGATIVE_INFINITY;

  constructor(context: PageContext) {
    this.#context = context;
  }

  /** `null` if there was no check in the last minute. Starts a new one if the latest is ten seconds old. */
  get latest(): Health | null {
    const nowMs = this.#context.now();
    if (nowMs - this.#askedAtMs >= EVERY_MS) {
      this.#askedAtMs = nowMs;
      void this.#refresh();
    }
    return nowMs - this.#knownAtMs > KEPT_MS ? null : this.#health;
  }

  async #refresh(): Promise<void> {
    try {
      const situation = await withDeadline(readSituation(this.#context), this.#context.readTimeoutMs);
      const { length } = findWarnings(situation);
      this.#health =
        length === 0
          ? { tone: 'calm', text: 'All is well' }
          : { tone: 'attention', text: counted(length, 'warning') };
    } catch (error) {
      // Other errors show on the page that reads the same data.
      this.#health =
        error instanceof StorageUnavailableError || error instanceof ReadTooSlowError ? lost : null;
    }
    this.#knownAtMs = this.#context.now();
  }
}
