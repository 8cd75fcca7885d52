import { excessBytes, toJsonText } from '../job/arguments.js';
import { CancelJob, JobTimeoutError, ResultTooLargeError, SnoozeJob } from '../job/errors.js';
import { toJobError } from '../job/failure.js';
import type { ClaimedJob, JsonText, Outcome } from '../job/job.js';
import { defaultRetryDelay, worthRetrying } from '../job/retry.js';
import type { JobHandler } from './handler.js';
import type { RunningAttempt } from './running-attempt.js';

/**
 * @throws {InvalidArgumentsError} if the value is not JSON
 * @throws {ResultTooLargeError} if its JSON takes more bytes than it may
 */
export function toResult(value: unknown, maxBytes: number): JsonText {
  const text = toJsonText(value ?? null, 'result');
  const bytes = excessBytes(text, maxBytes);
  if (bytes !== null) throw new ResultTooLargeError(bytes, maxBytes);
  return text;
}

/** What becomes of a job whose attempt threw. The first that fits: cancelled, timed out, what the handler asked for, the retry rules. */
export function failure(
  { claim, maxAttempts }: ClaimedJob,
  thrown: unknown,
  handler: JobHandler | undefined,
  { cancelled, timeout }: Pick<RunningAttempt, 'cancelled' | 'timeout'>,
): Outcome {
  if (cancelled) return { kind: 'cancelled', error: toJobError(thrown) };
  const reason = timeout === null ? thrown : withCause(timeout, thrown);
  if (reason instanceof SnoozeJob) return { kind: 'snooze', delayMs: reason.delayMs };
  const error = toJobError(reason);
  if (reason instanceof CancelJob) return { kind: 'cancelled', error };
  const definition = handler?.definition;
  if (claim.attempt >= maxAttempts || !worthRetrying(reason, definition?.retryRules ?? {})) {
    return { kind: 'failed', error };
  }
  return { kind: 'retry', error, delayMs: delayBefore(claim.attempt, reason, definition?.retryDelay) };
}

function withCause(timeout: JobTimeoutError, thrown: unknown): JobTimeoutError {
  const isAbort = thrown === timeout || (thrown instanceof Error && thrown.name === 'AbortError');
  return isAbort ? timeout : new JobTimeoutError(timeout.timeoutMs, { cause: thrown });
}

function delayBefore(attempt: number, error: unknown, retryDelay = defaultRetryDelay): number {
  try {
    return Math.max(0, retryDelay(attempt, error)) || 0;
  } catch {
    return defaultRetryDelay(attempt, error);
  }
}
