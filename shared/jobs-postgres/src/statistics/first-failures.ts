import { errorKindsKept } from '@longshore/jobs/storage';
import type { Database } from '../connection/database.js';
import type { DatabaseClock } from '../connection/database-clock.js';
import { deleteOldFirstFailures, recordFirstFailures } from './error-groups.sql.js';
import { maxKinds, maxKindsOfName, maxRetrying } from './statistics.js';

/** Minimum interval between runs, in milliseconds. */
const everyMs = 60_000;

/** Maximum age of the failures that are examined, in milliseconds. Longer than `everyMs`, because a run can be late. */
const sinceMs = 5 * everyMs;

/** Records when each kind of error was first seen, before the jobs that failed with it are deleted or retried. */
export class FirstFailures {
  readonly #database: Database;
  readonly #clock: DatabaseClock;
  #recordedAt = -Infinity;

  constructor(database: Database, clock: DatabaseClock) {
    this.#database = database;
    this.#clock = clock;
  }

  /** Records new kinds of errors, at most once a minute. */
  async runOnce(): Promise<void> {
    if (performance.now() - this.#recordedAt < everyMs) return;
    this.#recordedAt = performance.now();
    const limits = [maxKinds, maxKindsOfName, maxRetrying];
    await this.#database.query(recordFirstFailures(sinceMs, await this.#clock.fresh()), [sinceMs, ...limits]);
  }

  /**
   * Deletes kinds of errors that have not been seen for 90 days. If there are more than 10,000 kinds, also deletes the
   * least recently seen ones.
   */
  async deleteOld(): Promise<void> {
    await this.#database.query(deleteOldFirstFailures, [errorKindsKept.days, errorKindsKept.max]);
  }
}
