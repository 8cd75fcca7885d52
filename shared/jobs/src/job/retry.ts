import { bounds, isDelay, nearest } from './bounds.js';
import { type ErrorClass, isA } from './is-a.js';

/**
 * Milliseconds to wait before the next attempt.
 *
 * @param attempt the number of the attempt that failed, 1 for the first
 */
export type RetryDelay = (attempt: number, error: unknown) => number;

/** Which errors are worth another attempt. */
export interface RetryRules {
  /** Only these are; all unless given. */
  readonly retryOn?: readonly ErrorClass[];
  /** These are not, even if `retryOn` has them too. */
  readonly giveUpOn?: readonly ErrorClass[];
}

/** How often a job is attempted unless its definition or its enqueuer says otherwise. */
export const defaultMaxAttempts = 10;

/**
 * `attempt⁴` seconds, plus or minus up to a tenth at random: about 1 s, 16 s, 81 s, 4 min, 10 min, 22 min, 40 min,
 * 68 min, 109 min. Ten attempts span four hours, long enough for most outages to pass; the jitter keeps jobs
 * that failed together from coming back together.
 */
export const defaultRetryDelay: RetryDelay = (attempt) =>
  Math.round(1_000 * attempt ** 4 * (0.9 + 0.2 * Math.random()));

/**
 * @param delay a function, or a list of milliseconds whose last entry repeats
 * @throws {RangeError} if a list is empty or has something other than milliseconds, 0 to 315 360 000 000 (ten years)
 */
export function toRetryDelay(delay: RetryDelay | readonly number[]): RetryDelay {
  if (typeof delay === 'function') return delay;
  const list = [...delay];
  const last = list.at(-1);
  if (last === undefined || !list.every(isDelay)) {
    throw new RangeError(
      `retryDelay is a list of milliseconds from 0 to ${bounds.delayMs.most} (ten years), or a function, not [${list.join(', ')}]`,
    );
  }
  return (attempt) => list[attempt - 1] ?? last;
}

/** @throws {TypeError} if one of the lists has something other than classes */
export function checkRetryRules({ retryOn = [], giveUpOn = [] }: RetryRules): void {
  for (const [rule, classes] of Object.entries({ retryOn, giveUpOn })) {
    const place = classes.findIndex((type: unknown) => typeof type !== 'function');
    if (place >= 0)
      throw new TypeError(
        `${rule}[${place}] is ${String(classes[place])}, not a class of errors; modules that import each other in a circle may lead to this`,
      );
  }
}

/**
 * Milliseconds before the next attempt, within their bounds: the nearest one counts for what is beyond them, and the default for
 * what is no number. Never throws.
 */
export function delayBefore(attempt: number, error: unknown, delay: RetryDelay = defaultRetryDelay): number {
  try {
    const ms: unknown = delay(attempt, error);
    if (typeof ms === 'number' && !Number.isNaN(ms)) return nearest(ms, bounds.delayMs);
  } catch {
    // The default, as for what is no number.
  }
  return nearest(defaultRetryDelay(attempt, error), bounds.delayMs);
}

/** Whether an attempt that ended with this error is worth another one. Never throws: no error is of what is not a class. */
export function worthRetrying(error: unknown, { retryOn, giveUpOn = [] }: RetryRules): boolean {
  const isOneOf = (classes: readonly ErrorClass[]): boolean => classes.some((type) => isA(error, type));
  return !isOneOf(giveUpOn) && (retryOn === undefined || isOneOf(retryOn));
}
