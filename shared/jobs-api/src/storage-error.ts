import { DuplicateJobError, IdempotencyConflictError, StorageUnavailableError } from '@longshore/jobs';
import { type ApiError, apiError } from '@longshore/resources';

/** The answer to an error of the job storage or its client; `undefined` for one that nobody expected. */
export function classifyStorageError(error: unknown): ApiError | undefined {
  if (error instanceof DuplicateJobError || error instanceof IdempotencyConflictError)
    return apiError(40901, error.message);
  if (!(error instanceof StorageUnavailableError)) return undefined;
  return apiError(50301, error.message, { 'retry-after': '2' });
}
