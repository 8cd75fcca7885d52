import { setTimeout as pause } from 'node:timers/promises';

/** Delay before each refresh, in milliseconds, so that the page that triggered the refresh is answered first. */
const LEAD_MS = 100;

/** The pause after a refresh, as a multiple of the duration of the refresh. */
const REST_FACTOR = 3;
/** Maximum pause, in milliseconds. It applies, for example, if the clock is set forward during a refresh. */
const MAX_REST_MS = 60_000;

/**
 * Runs background refreshes one at a time, with pauses between them. The refreshes therefore use at most about a
 * quarter of one CPU core of the database, however many lists are open.
 */
export class RefreshQueue {
  readonly #now: () => number;
  readonly #pause: (ms: number) => Promise<unknown>;
  /** Resolves when the next refresh can begin. */
  #free: Promise<unknown> = Promise.resolve();

  /** @param pauseFor waits for a number of milliseconds; by default, with a timer that does not keep the process alive */
  constructor(
    now: () => number = Date.now,
    pauseFor: (ms: number) => Promise<unknown> = (ms) => pause(ms, undefined, { ref: false }),
  ) {
    this.#now = now;
    this.#pause = pauseFor;
  }

  /** Queues a refresh. Settles like the promise that `refresh` returns. */
  add<T>(refresh: () => Promise<T>): Promise<T> {
    let startedAtMs = 0;
    const result = this.#free
      .then(() => this.#pause(LEAD_MS))
      .then(() => {
        startedAtMs = this.#now();
        return refresh();
      });
    const pauseAfter = (): Promise<unknown> =>
      this.#pause(Math.min(REST_FACTOR * (this.#now() - startedAtMs), MAX_REST_MS));
    this.#free = result.then(pauseAfter, pauseAfter);
    return result;
  }
}
