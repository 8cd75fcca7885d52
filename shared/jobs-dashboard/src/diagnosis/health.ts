import { StorageUnavailableError } from '@longshore/jobs';
import { findWarnings } from './warnings.js';
import { counted } from '../format/count.js';
import type { PageContext } from '../pages/page.js';
import { ReadTooSlowError, withDeadline } from '../reading/deadline.js';
import { readSituation } from './situation.js';

/** The answer to “is it working?” in a word or two, for every page. */
export interface Health {
  readonly tone: 'calm' | 'attention';
  readonly text: string;
}

/** Known anew at most so often, in milliseconds, however many look. */
const EVERY_MS = 10_000;
/** What is older, in milliseconds, is not known any more. */
const KEPT_MS = 60_000;

const lost: Health = { tone: 'attention', text: 'The storage does not answer' };

/** How this store does, kept for all viewers of this process. Nobody waits for it: who asks is told what is known. */
export class HealthWatch {
  readonly #context: PageContext;
  #health: Health | null = null;
  #knownAtMs = 0;
  #askedAtMs = Number.NEGATIVE_INFINITY;

  constructor(context: PageContext) {
    this.#context = context;
  }

  /** `null` if it is not known, as nobody has looked for a while. */
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
      // What else goes wrong here is told where it is shown.
      this.#health =
        error instanceof StorageUnavailableError || error instanceof ReadTooSlowError ? lost : null;
    }
    this.#knownAtMs = this.#context.now();
  }
}
