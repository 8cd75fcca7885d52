/** A source of the current time. */
export interface Clock {
  /** Milliseconds since 1970, as `Date.now()`. */
  now(): number;
}

/** This machine's clock, for storages in this process. */
export const systemClock: Clock = { now: () => Date.now() };
