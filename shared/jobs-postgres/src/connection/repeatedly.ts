import { StorageUnavailableError } from '@longshore/jobs';
import { isFromDriver } from './driver-errors.js';
import { codeOf } from './errors.js';

/** SQLSTATE for a prepared statement that no longer exists, for example after the application's `discard all`. */
export const discarded = '26000';

/** SQLSTATEs after which a transaction is repeated: serialization failure, deadlock, discarded statement. */
const repeatable = new RegExp(`^(40001|40P01|${discarded})$`);

const maxRepeats = 5;

/**
 * Calls `run`, and repeats it up to five times after a serialization failure, a deadlock or the loss of prepared
 * statements. Throws a {@link StorageUnavailableError} if no attempt succeeds.
 */
export async function repeatedly<Result>(run: () => Promise<Result>): Promise<Result> {
  for (let repeat = 0; ; repeat++) {
    try {
      return await run();
    } catch (error) {
      if (!isFromDriver(error) || !repeatable.test(codeOf(error))) throw error;
      if (repeat === maxRepeats)
        throw new StorageUnavailableError(
          'Postgres aborted the transaction repeatedly because of concurrent ones',
          { cause: error },
        );
    }
  }
}
