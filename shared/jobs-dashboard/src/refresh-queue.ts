import { setTimeout as pause } from 'node:timers/promises';

/** The page that asked has been answered after this many milliseconds. */
const LEAD_MS = 100;

/** Each refresh is followed by a pause of this many times its duration. */
const REST_FACTOR = 3;
/** Longer than any refresh takes, in case the clock is set in between. */
const MAX_REST_MS = 60_000;

/**
 * Runs refreshes that no page waits for, one after the other with pauses between them. However many lists are open,
 * refreshes use at most a quarter of one of the storage's processors.
 */
export class RefreshQueue {
  readonly #now: () => number;
  readonly #rest: (ms: number) => Promise<unknown>;
  /** Resolves when the next refresh may start. */
  #free: Promise<unknown> = Promise.resolve();

  /** @param rest resolves after so many milliseconds; the default does not keep the process alive */
  constructor(
    now: () => number = Date.now,
    rest: (ms: number) => Promise<unknown> = (ms) => pause(ms, undefined, { ref: false }),
  ) {
    this.#now = now;
    this.#rest = rest;
  }

  /** Settles as the refresh does, once its turn has come. */
  add<T>(refresh: () => Promise<T>): Promise<T> {
    let startedAtMs = 0;
    const result = this.#free
      .then(() => this.#rest(LEAD_MS))
      .then(() => {
        startedAtMs = this.#now();
        return refresh();
      });
    const rest = (): Promise<unknown> =>
      this.#rest(Math.min(REST_FACTOR * (this.#now() - startedAtMs), MAX_REST_MS));
    this.#free = result.then(rest, rest);
    return result;
  }
}
