import { bounds, checkInteger, checkText } from './bounds.js';
import type { JobMeta } from './meta.js';
import { checkOptions, type OptionNames } from './options.js';
import { checkRate, type RateLimit } from './queue-limits.js';

/** Limits on jobs with the same key in one queue, across all servers: how many run at once, and how many start when. */
export interface Concurrency {
  /** 1 to 200 characters. */
  readonly key: string;
  /** How many of the jobs run at once: 1 to 10,000. Required unless there is a rate; then 10,000 by default. */
  readonly limit?: number;
  /** How many of the jobs start when; no limit by default. */
  readonly rate?: RateLimit;
}

/** A concurrency rule with defaults filled in. */
export interface CheckedConcurrency {
  readonly key: string;
  readonly limit: number;
  readonly rate?: Required<RateLimit>;
}

const concurrencyOptions: OptionNames<Concurrency> = { key: true, limit: true, rate: true };

/**
 * Checks a concurrency rule and fills in defaults.
 *
 * @throws {RangeError} if the key, the limit or the rate is out of bounds, or both of the latter are missing
 * @throws {TypeError} if there is another option
 */
export function checkConcurrency(concurrency: Concurrency): CheckedConcurrency {
  checkOptions('concurrency', concurrency, concurrencyOptions);
  const { key, rate, limit = bounds.concurrencyLimit.max } = concurrency;
  if (concurrency.limit === undefined && rate === undefined)
    throw new RangeError('concurrency needs a limit, a rate or both, such as { key, limit: 1 }');
  return {
    key: checkText('A concurrency key', key, bounds.keyLength),
    limit: checkInteger('A concurrency limit', limit, bounds.concurrencyLimit),
    ...(rate !== undefined && { rate: checkRate('concurrency.rate', rate) }),
  };
}

/**
 * Converts the key and its limits to job metadata.
 *
 * @throws {RangeError} as {@link checkConcurrency} does
 */
export function concurrencyMeta(concurrency: Concurrency): JobMeta {
  const { key, limit, rate } = checkConcurrency(concurrency);
  return {
    concurrencyKey: key,
    concurrencyLimit: limit,
    ...(rate !== undefined && { concurrencyRate: rate }),
  };
}
