import { setTimeout as pause } from 'node:timers/promises';

/**
 * How long a refresh waits before it starts, in milliseconds, so that the page that has triggered it is answered first.
 */
const LEAD_MS = 100;

/** The pause after a refresh, as a multiple of the time that the refresh took. */
const REST_FACTOR = 3;
/** Maximum pause, in milliseconds. It applies, for example, if the clock is set forward during a refresh. */
const MAX_REST_MS = 60_000;

/**
 * Runs refreshes that no page waits for, one at a time and with pauses between them. However many lists are open, the
 * refreshes therefore use at most about a quarter of one CPU core of the database.
 */
export class RefreshQueue {
  readonly #now: () => number;
  readonly #rest: (ms: number) => Promise<unknown>;
  /** Resolves when the next refresh may begin. */
  #free: Promise<unknown> = Promise.resolve();

  /** @param rest waits for a number of milliseconds; by default, with a timer that does not keep the process alive */
  constructor(
    now: () => number = Date.now,
    rest: (ms: number) => Promise<unknown> = (ms) => pause(ms, undefined, { ref: false }),
  ) {
    this.#now = now;
    this.#rest = rest;
  }

  /** Queues a refresh. Returns a promise that settles with its result. */
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
