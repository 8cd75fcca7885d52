import { bounds, checkInteger, checkText } from './bounds.js';
import type { JobMeta } from './meta.js';
import { checkOptions, type OptionNames } from './options.js';

/** A limit on how many jobs with the same key run at once in one queue, across all servers. */
export interface Concurrency {
  /** 1 to 200 characters. */
  readonly key: string;
  /** 1 to 10,000. */
  readonly limit: number;
}

const concurrencyOptions: OptionNames<Concurrency> = { key: true, limit: true };

/**
 * @throws {RangeError} if the key or the limit is out of bounds
 * @throws {TypeError} if there is another option
 */
export function checkConcurrency(concurrency: Concurrency): Concurrency {
  checkOptions('concurrency', concurrency, concurrencyOptions);
  const { key, limit } = concurrency;
  return {
    key: checkText('A concurrency key', key, bounds.keyLength),
    limit: checkInteger('A concurrency limit', limit, bounds.concurrencyLimit),
  };
}

/**
 * Converts the key and the limit to job metadata.
 *
 * @throws {RangeError} as {@link checkConcurrency} does
 */
export function concurrencyMeta(concurrency: Concurrency): JobMeta {
  const { key, limit } = checkConcurrency(concurrency);
  return { concurrencyKey: key, concurrencyLimit: limit };
}
