import { excessBytes, toJsonText } from '../job/arguments.js';
import { isDelay } from '../job/bounds.js';
import {
  CancelJob,
  InvalidArgumentsError,
  JobTimeoutError,
  ResultTooLargeError,
  SnoozeJob,
} from '../job/errors.js';
import { toJobError } from '../job/failure.js';
import { isA } from '../job/is-a.js';
import { definitionVersion } from '../job/meta.js';
import type { ClaimedJob, JobError, JsonText, JsonValue, Outcome } from '../job/job.js';
import type { JobDefinition } from '../job/definition.js';
import { delayBefore, isRetryable } from '../job/retry.js';
import type { JobHandler } from './handler.js';
import type { RunningAttempt } from './running-attempt.js';

/**
 * Serializes the return value of a handler or of a step; `undefined` becomes `null`.
 *
 * @param root what errors call the value
 * @throws {InvalidArgumentsError} if the value is not JSON, or does not match the definition's result schema
 * @throws {ResultTooLargeError} if the JSON exceeds `maxBytes`
 */
export function toResult(
  value: unknown,
  maxBytes: number,
  definition?: JobDefinition,
  root = 'result',
): JsonText {
  const text = definition?.checkResult(value ?? null) ?? toJsonText(value ?? null, root);
  const bytes = excessBytes(text, maxBytes);
  if (bytes !== null) throw new ResultTooLargeError(bytes, maxBytes, root);
  return text;
}

/**
 * Returns a claimed job with its arguments as the handler receives them: upgraded to the version of the definition and
 * checked against it, with the defaults and transforms of its schema applied. If the arguments do not match, also returns the outcome of the attempt: a failure
 * without a retry, because the next attempt would have the same arguments.
 */
export function withReadArgs(
  job: ClaimedJob,
  handler: JobHandler,
): { readonly job: ClaimedJob; readonly refusal: Outcome | null } {
  try {
    const args = handler.definition.read(job.args, definitionVersion(job.meta)) as JsonValue;
    return { job: { ...job, args }, refusal: null };
  } catch (error) {
    const refusal = isA(error, InvalidArgumentsError)
      ? ({ kind: 'failed', error: doesNotMatch(job.name, error) } as const)
      : failure(job, error, handler, { cancelled: false, timeout: null });
    return { job, refusal };
  }
}

function doesNotMatch(name: string, error: InvalidArgumentsError): JobError {
  const message = `The arguments do not match the definition of "${name}" on this server: ${error.message}. The definition has changed since the job was enqueued, or the job was enqueued without it. Deploy a definition that accepts these arguments, such as one with version and upgrade, and retry the job; or enqueue it again with others`;
  return { ...toJobError(error), message, stack: null };
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
