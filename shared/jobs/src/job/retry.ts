import { bounds, clamp, isDelay } from './bounds.js';
import { TooManyStepsError, TransactionEndedError } from './errors.js';
import { shown } from './shown.js';
import { type ErrorClass, isA } from './is-a.js';

/**
 * A function that returns the delay before the next attempt, in milliseconds.
 *
 * @param attempt the number of the attempt that failed, 1 for the first
 */
export type RetryDelay = (attempt: number, error: unknown) => number;

/** Rules that decide which errors are retried. Each class also matches errors of its subclasses. */
export interface RetryRules {
  /** Retry only these errors; all errors by default. */
  readonly retryOn?: readonly ErrorClass[];
  /** Never retry these errors, even if `retryOn` includes them. */
  readonly giveUpOn?: readonly ErrorClass[];
}

/** Maximum number of attempts, unless the definition or the enqueuer sets a different one. */
export const defaultMaxAttempts = 10;

/**
 * The default delay: `attempt⁴` seconds ± 10 % at random. The delays are about 1 s, 16 s, 81 s, 4 min, 10 min, 22 min,
 * 40 min, 68 min and 109 min. Ten attempts span about four hours, longer than most outages. The jitter spreads out the
 * retries of jobs that failed together.
 */
export const defaultRetryDelay: RetryDelay = (attempt) =>
  Math.round(1_000 * attempt ** 4 * (0.9 + 0.2 * Math.random()));

/**
 * Converts the `retryDelay` option to a function.
 *
 * @param delay a function, or a list of milliseconds; the last entry of the list repeats
 * @throws {RangeError} if the list is empty, or an entry is not a number from 0 to 315,360,000,000 (ten years)
 */
export function toRetryDelay(delay: RetryDelay | readonly number[]): RetryDelay {
  if (typeof delay === 'function') return delay;
  const list = Array.isArray(delay) ? [...(delay as readonly number[])] : [];
  const last = list.at(-1);
  if (last === undefined || !list.every(isDelay)) {
    const got = Array.isArray(delay) ? `[${list.map(shown).join(', ')}]` : shown(delay);
    throw new RangeError(
      `retryDelay must be a list of milliseconds from 0 to ${bounds.delayMs.max} (ten years), such as [${typeof delay === 'number' ? String(delay) : 1_000}], or a function, not ${got}`,
    );
  }
  return (attempt) => list[attempt - 1] ?? last;
}

/** @throws {TypeError} if an entry of `retryOn` or `giveUpOn` is not a function */
export function checkRetryRules({ retryOn = [], giveUpOn = [] }: RetryRules): void {
  for (const [rule, classes] of Object.entries({ retryOn, giveUpOn })) {
    if (!Array.isArray(classes))
      throw new TypeError(`${rule} must be a list of error classes, not ${shown(classes)}`);
    const index = classes.findIndex((type: unknown) => typeof type !== 'function');
    if (index >= 0)
      throw new TypeError(
        `${rule}[${index}] is ${shown(classes[index])}, not an error class; circular imports between modules can cause this`,
      );
  }
}

/**
 * Returns the delay before the next attempt in milliseconds, clamped to the range from 0 to ten years. Uses the default
 * delay if `delay` is absent, throws or does not return a number.
 */
export function delayBefore(attempt: number, error: unknown, delay: RetryDelay = defaultRetryDelay): number {
  try {
    const ms: unknown = delay(attempt, error);
    if (typeof ms === 'number' && !Number.isNaN(ms)) return clamp(ms, bounds.delayMs);
  } catch {
    // The default applies.
  }
  return clamp(defaultRetryDelay(attempt, error), bounds.delayMs);
}

/** Errors that are never retried, whatever the rules: another attempt cannot succeed. */
const neverRetried: readonly ErrorClass[] = [TooManyStepsError, TransactionEndedError];

/** Returns whether the rules allow a retry after this error. Ignores entries that are not classes. */
export function isRetryable(error: unknown, { retryOn, giveUpOn = [] }: RetryRules): boolean {
  const isOneOf = (classes: readonly ErrorClass[]): boolean => classes.some((type) => isA(error, type));
  if (isOneOf(neverRetried) || isOneOf(giveUpOn)) return false;
  return retryOn === undefined || isOneOf(retryOn);
}
