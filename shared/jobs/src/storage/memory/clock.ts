/** Where a storage without a database of its own takes the time from. */
export interface Clock {
  /** Milliseconds since 1970, as `Date.now()`. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };
