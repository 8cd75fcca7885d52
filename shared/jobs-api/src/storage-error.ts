import { StorageUnavailableError } from '@longshore/jobs';
import { type ApiError, apiError } from '@longshore/resources';

/** The answer to an error of the job storage; `undefined` for one that nobody expected. */
export function classifyStorageError(error: unknown): ApiError | undefined {
  if (!(error instanceof StorageUnavailableError)) return undefined;
  return apiError(50301, error.message, { 'retry-after': '2' });
}
