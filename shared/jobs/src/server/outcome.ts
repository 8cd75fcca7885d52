import { excessBytes, toJsonText } from '../job/arguments.js';
import { isDelay } from '../job/bounds.js';
import { CancelJob, JobTimeoutError, ResultTooLargeError, SnoozeJob } from '../job/errors.js';
import { toJobError } from '../job/failure.js';
import { isA } from '../job/is-a.js';
import type { ClaimedJob, JsonText, JsonValue, Outcome } from '../job/job.js';
import type { JobDefinition } from '../job/definition.js';
import { delayBefore, isRetryable } from '../job/retry.js';
import type { JobHandler } from './handler.js';
import type { RunningAttempt } from './running-attempt.js';

/**
 * Serializes a handler's return value; `undefined` becomes `null`.
 *
 * @throws {InvalidArgumentsError} if the value is not JSON, or does not match the definition's result schema
 * @throws {ResultTooLargeError} if the JSON exceeds `maxBytes`
 */
export function toResult(value: unknown, maxBytes: number, definition?: JobDefinition): JsonText {
  const text = definition?.checkResult(value ?? null) ?? toJsonText(value ?? null, 'result');
  const bytes = excessBytes(text, maxBytes);
  if (bytes !== null) throw new ResultTooLargeError(bytes, maxBytes);
  return text;
}

/**
 * Checks the arguments of a claimed job that were not checked when it was enqueued. Returns the job with the arguments
 * for the handler: the output of the definition's schema. If they are invalid, also returns the outcome of the attempt: a
 * failure without a retry, because the next attempt would have the same arguments.
 */
export function checkedArgs(
  job: ClaimedJob,
  definition: JobDefinition,
): { readonly job: ClaimedJob; readonly refusal: Outcome | null } {
  try {
    return { job: { ...job, args: definition.check(job.args).value as JsonValue }, refusal: null };
  } catch (error) {
    const { name, message } = toJobError(error);
    const reason = `The arguments do not match the definition of "${job.name}", and were enqueued without it, such as by longshore.enqueue: ${message}`;
    return { job, refusal: { kind: 'failed', error: { name, message: reason, stack: null } } };
  }
}

/**
 * Returns the outcome of an attempt that ended with an error. A cancellation takes precedence over a timeout. A timeout
 * takes precedence over `CancelJob` and `SnoozeJob`. These take precedence over the retry rules. Never throws, even if
 * the members of the thrown error cannot be read.
 */
export function failure(
  { claim, maxAttempts }: ClaimedJob,
  thrown: unknown,
  handler: JobHandler | undefined,
  { cancelled, timeout }: Pick<RunningAttempt, 'cancelled' | 'timeout'>,
): Outcome {
  if (cancelled) return { kind: 'cancelled', error: toJobError(thrown) };
  const reason = timeout === null ? thrown : withCause(timeout, thrown);
  const snoozedMs = snoozeOf(reason);
  if (snoozedMs !== null) return { kind: 'snooze', delayMs: snoozedMs };
  const error = toJobError(reason);
  if (isA(reason, CancelJob)) return { kind: 'cancelled', error };
  const definition = handler?.definition;
  if (claim.attempt >= maxAttempts || !isRetryable(reason, definition?.retryRules ?? {})) {
    return { kind: 'failed', error };
  }
  return { kind: 'retry', error, delayMs: delayBefore(claim.attempt, reason, definition?.retryDelay) };
}

function withCause(timeout: JobTimeoutError, thrown: unknown): JobTimeoutError {
  const isAbort = thrown === timeout || toJobError(thrown).name === 'AbortError';
  return isAbort ? timeout : new JobTimeoutError(timeout.timeoutMs, { cause: thrown });
}

/**
 * Returns the delay of a `SnoozeJob`, in milliseconds. Returns `null` for any other error, or if the delay is invalid.
 */
function snoozeOf(thrown: unknown): number | null {
  if (!isA(thrown, SnoozeJob)) return null;
  try {
    const { delayMs } = thrown;
    return isDelay(delayMs) ? delayMs : null;
  } catch {
    return null;
  }
}
