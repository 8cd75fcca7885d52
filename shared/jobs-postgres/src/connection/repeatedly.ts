import { StorageUnavailableError } from '@longshore/jobs';
import { codeOf, isFromDriver } from './errors.js';
import { meaningOf, readOnlyState } from './sql-states.js';

const maxRepeats = 5;

const aborted = 'Postgres aborted the transaction repeatedly because of concurrent ones';

/** Errors of calls that have been repeated because their connection accepted only reads. */
const repeated = new WeakSet<Error>();

/**
 * Calls `run`, and repeats it up to five times after a serialization failure, a deadlock or the loss of prepared
 * statements. Throws a {@link StorageUnavailableError} if no attempt succeeds.
 *
 * Also repeats it once, on another connection, if Postgres accepts only reads: the connection may have been opened before
 * Postgres accepted writes, and keeps the setting of that time.
 */
export async function repeatedly<Result>(run: () => Promise<Result>): Promise<Result> {
  let isRenewed = false;
  for (let repeat = 0; ; repeat++) {
    try {
      return await run();
    } catch (error) {
      if (isReadOnly(error) && !repeated.has(error)) {
        if (isRenewed) repeated.add(error);
        else {
          isRenewed = true;
          continue;
        }
      }
      if (!isFromDriver(error) || meaningOf(codeOf(error)).kind !== 'conflict') throw error;
      if (repeat === maxRepeats)
        throw new StorageUnavailableError(aborted, { cause: error, summary: aborted });
    }
  }
}

function isReadOnly(error: unknown): error is StorageUnavailableError {
  return error instanceof StorageUnavailableError && codeOf(error.cause) === readOnlyState;
}
