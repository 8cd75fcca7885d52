import { StorageUnavailableError } from '@longshore/jobs';
import { codeOf, isFromDriver } from './errors.js';
import { meaningOf } from './sql-states.js';

const maxRepeats = 5;

const aborted = 'Postgres aborted the transaction repeatedly because of concurrent ones';

/**
 * Calls `run`, and repeats it up to five times after a serialization failure, a deadlock or the loss of prepared
 * statements. Throws a {@link StorageUnavailableError} if no attempt succeeds.
 */
export async function repeatedly<Result>(run: () => Promise<Result>): Promise<Result> {
  for (let repeat = 0; ; repeat++) {
    try {
      return await run();
    } catch (error) {
      if (!isFromDriver(error) || meaningOf(codeOf(error)).kind !== 'conflict') throw error;
      if (repeat === maxRepeats)
        throw new StorageUnavailableError(aborted, { cause: error, summary: aborted });
    }
  }
}
