/** A source of the current time. */
export interface Clock {
  /** Milliseconds since 1970, as `Date.now()`. */
  now(): number;
}

/** The clock of this machine, for a storage that lives in this process. */
export const systemClock: Clock = { now: () => Date.now() };
