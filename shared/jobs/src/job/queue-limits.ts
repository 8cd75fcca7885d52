import { checkInteger } from './bounds.js';
import { checkOptions, type OptionNames } from './options.js';

/**
 * A token bucket. Each started job takes a token. Tokens are added at an even rate of `jobs` per `periodMs`. At most
 * `burst` tokens accumulate.
 */
export interface RateLimit {
  /** Number of jobs that can start per period: 1 to 1,000,000. */
  readonly jobs: number;
  /** Length of the period in milliseconds: 1 to 86,400,000 (a day). */
  readonly periodMs: number;
  /**
   * Number of jobs that can start at once after an idle period: 1 to 1,000,000; the value of `jobs` by default. With 1,
   * the starts are evenly spaced.
   */
  readonly burst?: number;
}

/** Limits of a queue, across all servers. An absent member leaves that limit unchanged; `null` removes it. */
export interface QueueLimits {
  /** Maximum number of the queue's jobs that run at once; 1 to 1,000,000. */
  readonly concurrencyLimit?: number | null;
  readonly rateLimit?: RateLimit | null;
}

/** Queue limits after validation, with defaults filled in. */
export interface CheckedLimits extends QueueLimits {
  readonly rateLimit?: Required<RateLimit> | null;
}

/** Upper bound of `concurrencyLimit`, `jobs` and `burst`. A bucket therefore never contains more tokens. */
export const maxTokens = 1_000_000;

const dayMs = 86_400_000;

const limitOptions: OptionNames<QueueLimits> = { concurrencyLimit: true, rateLimit: true };
const rateOptions: OptionNames<RateLimit> = { jobs: true, periodMs: true, burst: true };

/**
 * Checks queue limits and fills in defaults.
 *
 * @throws {RangeError} if a number is out of bounds
 * @throws {TypeError} if a limit is unknown
 */
export function checkQueueLimits(limits: QueueLimits): CheckedLimits {
  checkOptions('limit', limits, limitOptions);
  const { concurrencyLimit, rateLimit } = limits;
  if (concurrencyLimit !== undefined && concurrencyLimit !== null)
    checkCount('concurrencyLimit', concurrencyLimit, maxTokens);
  return {
    ...(concurrencyLimit === undefined ? {} : { concurrencyLimit }),
    ...(rateLimit === undefined
      ? {}
      : { rateLimit: rateLimit === null ? null : checkRate('limit: rateLimit', rateLimit) }),
  };
}

/**
 * Checks a rate and fills in the default of `burst`.
 *
 * @param what the option, at the start of messages
 * @throws {RangeError} if a number is out of bounds
 * @throws {TypeError} if there is another member
 */
export function checkRate(what: string, rate: RateLimit): Required<RateLimit> {
  checkOptions(what, rate, rateOptions);
  const { jobs, periodMs, burst = jobs } = rate;
  checkCount(`${what}.jobs`, jobs, maxTokens);
  checkCount(`${what}.periodMs`, periodMs, dayMs);
  checkCount(`${what}.burst`, burst, maxTokens);
  return { jobs, periodMs, burst };
}

/** Returns a stored rate; `null` if it is invalid. */
export function readRate(stored: unknown): Required<RateLimit> | null {
  try {
    return checkRate('rate', stored as RateLimit);
  } catch {
    return null;
  }
}

function checkCount(what: string, count: number, max: number): void {
  checkInteger(what, count, { min: 1, max });
}
