import type { Check } from './options.js';
import { shown } from './shown.js';

export interface Clock {
  /** Returns the current time in milliseconds since 1970, like `Date.now()`. */
  now(): number;
}

/** Accepts an object with the function of a clock. */
export const isClock: Check = (what, value) => {
  if (typeof (value as Partial<Clock> | null | undefined)?.now !== 'function')
    throw new TypeError(`${what} must be an object with the function now, not ${shown(value)}`);
};

/** This machine's clock, used by a storage that keeps its data in this process. */
export const systemClock: Clock = { now: () => Date.now() };
