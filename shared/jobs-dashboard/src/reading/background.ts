import { setTimeout as pause } from 'node:timers/promises';

/** Whoever asked has had the answer by then, in milliseconds: what is read meanwhile is read for the next. */
export const LEAD_MS = 100;

/** After each read there is a rest of so many times what it took. */
const REST = 3;
/** Longer than any read takes: a clock that was put right meanwhile does not make it rest for hours. */
const MAX_REST_MS = 60_000;

/**
 * Reads that nobody waits for: one after the other, with rests between. However many lists are looked at, they keep a
 * quarter of one of the storage's processors busy at most, and pages have the rest.
 */
export class Background {
  readonly #now: () => number;
  readonly #rest: (ms: number) => Promise<unknown>;
  /** Settles when the next may begin. */
  #free: Promise<unknown> = Promise.resolve();

  /** @param rest resolves after so many milliseconds; by default it keeps no process alive */
  constructor(
    now: () => number = Date.now,
    rest: (ms: number) => Promise<unknown> = (ms) => pause(ms, undefined, { ref: false }),
  ) {
    this.#now = now;
    this.#rest = rest;
  }

  /** Settles as the read does, when it is its turn. */
  read<T>(load: () => Promise<T>): Promise<T> {
    let beganAtMs = 0;
    const reading = this.#free
      .then(() => this.#rest(LEAD_MS))
      .then(() => {
        beganAtMs = this.#now();
        return load();
      });
    const rest = (): Promise<unknown> => this.#rest(Math.min(REST * (this.#now() - beganAtMs), MAX_REST_MS));
    this.#free = reading.then(rest, rest);
    return reading;
  }
}
