/** Tells the time. */
export interface Clock {
  /** Milliseconds since 1970, as `Date.now()`. */
  now(): number;
}

/** That of this machine, for a storage in this process. */
export const systemClock: Clock = { now: () => Date.now() };
