import {
  DuplicateJobError,
  IdempotencyConflictError,
  ReadTimeoutError,
  StorageUnavailableError,
} from '@longshore/jobs';
import { KeyHolderHiddenError } from '@longshore/jobs/storage';
import { type ApiError, apiError } from '@longshore/resources';

const conflicts = [DuplicateJobError, IdempotencyConflictError, KeyHolderHiddenError];

/** Converts an error of the job storage or its client to an API error; returns `undefined` for an unexpected error. */
export function classifyStorageError(error: unknown): ApiError | undefined {
  if (conflicts.some((conflict) => error instanceof conflict) && error instanceof Error)
    return apiError(40901, error.message);
  if (error instanceof ReadTimeoutError) return apiError(50304, error.summary, { 'retry-after': '2' });
  if (!(error instanceof StorageUnavailableError)) return undefined;
  return apiError(50301, error.summary, { 'retry-after': '2' });
}
