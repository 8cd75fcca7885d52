export interface Clock {
  /** Returns the current time in milliseconds since 1970, like `Date.now()`. */
  now(): number;
}

/** This machine's clock, used by a storage that keeps its data in this process. */
export const systemClock: Clock = { now: () => Date.now() };
