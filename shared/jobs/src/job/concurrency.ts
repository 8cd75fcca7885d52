import type { JobMeta } from './meta.js';

/** Jobs of one queue with the same key share a limit: at most so many of them run at once, over all servers. */
export interface Concurrency {
  /** 1 to 200 characters. */
  readonly key: string;
  /** 1 to 10 000. */
  readonly limit: number;
}

/** @throws {RangeError} if the key or the limit is out of its bounds */
export function checkConcurrency({ key, limit }: Concurrency): Concurrency {
  if (typeof key !== 'string' || key.length === 0 || key.length > 200 || key.includes('\0')) {
    throw new RangeError('A concurrency key is a text of 1 to 200 characters');
  }
  if (!Number.isInteger(limit) || limit < 1 || limit > 10_000) {
    throw new RangeError(`A concurrency limit is an integer from 1 to 10000, not ${limit}`);
  }
  return { key, limit };
}

/**
 * What a job carries of it.
 *
 * @throws {RangeError} as {@link checkConcurrency} does
 */
export function concurrencyMeta(concurrency: Concurrency): JobMeta {
  const { key, limit } = checkConcurrency(concurrency);
  return { concurrencyKey: key, concurrencyLimit: limit };
}
