/**
 * Milliseconds to wait before the next attempt.
 *
 * @param attempt the number of the attempt that failed, 1 for the first
 */
export type RetryDelay = (attempt: number, error: unknown) => number;

/** A class of errors; its subclasses belong to it (`instanceof`). */
// An abstract class, or one with parameters of its own, is welcome too.
export type ErrorClass = abstract new (...args: never[]) => unknown;

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
 * @throws {RangeError} if a list is empty or has something other than milliseconds, 0 or more
 */
export function toRetryDelay(delay: RetryDelay | readonly number[]): RetryDelay {
  if (typeof delay === 'function') return delay;
  const list = [...delay];
  const last = list.at(-1);
  if (last === undefined || list.some((ms) => !(Number.isFinite(ms) && ms >= 0))) {
    throw new RangeError(
      `retryDelay is a list of milliseconds, 0 or more, or a function, not [${list.join(', ')}]`,
    );
  }
  return (attempt) => list[attempt - 1] ?? last;
}

/** Whether an attempt that ended with this error is worth another one. */
export function worthRetrying(error: unknown, { retryOn, giveUpOn = [] }: RetryRules): boolean {
  const isOneOf = (classes: readonly ErrorClass[]): boolean => classes.some((type) => error instanceof type);
  return !isOneOf(giveUpOn) && (retryOn === undefined || isOneOf(retryOn));
}
