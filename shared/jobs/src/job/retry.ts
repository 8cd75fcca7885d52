/**
 * Milliseconds to wait before the next attempt.
 *
 * @param attempt the number of the attempt that failed, 1 for the first
 */
export type RetryDelay = (attempt: number, error: unknown) => number;

/** How often a job is attempted unless its definition or its enqueuer says otherwise. */
export const defaultMaxAttempts = 10;

/**
 * `attempt⁴` seconds, plus or minus up to a tenth at random: about 1 s, 16 s, 81 s, 4 min, 10 min, 22 min, 40 min,
 * 68 min, 109 min. Ten attempts span four hours, long enough for most outages to pass; the jitter keeps jobs
 * that failed together from coming back together.
 */
export const defaultRetryDelay: RetryDelay = (attempt) =>
  Math.round(1_000 * attempt ** 4 * (0.9 + 0.2 * Math.random()));
