import { checkInteger } from './bounds.js';

/**
 * A token bucket: each start of a job takes a token, `jobs` new ones come in every `periodMs`, evenly spread, and at most
 * `burst` gather while nothing starts.
 */
export interface RateLimit {
  /** 1 to 1 000 000. */
  readonly jobs: number;
  /** Milliseconds: 1 to 86 400 000, a day. */
  readonly periodMs: number;
  /** 1 to 1 000 000; as many as `jobs` by default. With 1, starts are evenly spaced. */
  readonly burst?: number;
}

/** Limits that hold over all servers together. A member left out stays as it is; `null` takes the limit away. */
export interface QueueLimits {
  /** At most so many jobs of the queue run at once; 1 to 1 000 000. */
  readonly concurrencyLimit?: number | null;
  readonly rateLimit?: RateLimit | null;
}

/** Limits without anything left to defaults. */
export interface CheckedLimits extends QueueLimits {
  readonly rateLimit?: Required<RateLimit> | null;
}

/** The most that any of the counts may be, and so the most tokens a bucket can hold. */
export const maxTokens = 1_000_000;

const dayMs = 86_400_000;

/**
 * Checks limits and fills in what they leave to the defaults.
 *
 * @throws {RangeError} if a number is out of its bounds
 */
export function checkQueueLimits({ concurrencyLimit, rateLimit }: QueueLimits): CheckedLimits {
  if (typeof concurrencyLimit === 'number') checkCount('concurrencyLimit', concurrencyLimit, maxTokens);
  return {
    ...(concurrencyLimit === undefined ? {} : { concurrencyLimit }),
    ...(rateLimit === undefined ? {} : { rateLimit: rateLimit === null ? null : checkRateLimit(rateLimit) }),
  };
}

function checkRateLimit({ jobs, periodMs, burst = jobs }: RateLimit): Required<RateLimit> {
  checkCount('rateLimit.jobs', jobs, maxTokens);
  checkCount('rateLimit.periodMs', periodMs, dayMs);
  checkCount('rateLimit.burst', burst, maxTokens);
  return { jobs, periodMs, burst };
}

function checkCount(what: string, count: number, most: number): void {
  checkInteger(what, count, { least: 1, most });
}
