import { isOfData, sqlStateOf } from '../connection/errors.js';
import type { Aside, PostgresSetAside } from '../records/set-aside.js';

/** How long this process skips a failed chore, in milliseconds. */
const pauseMs = 60_000;

/**
 * Runs periodic chores. A chore that fails because of stored data or a statement timeout is recorded as set aside and
 * paused, and the other chores still run.
 */
export class Chores {
  readonly #setAside: PostgresSetAside;
  /** When each failed chore can run again, by name (on the clock of `performance.now()`). */
  readonly #failed = new Map<string, number>();

  constructor(setAside: PostgresSetAside) {
    this.#setAside = setAside;
  }

  /**
   * Runs a chore. Does nothing during the pause after a failure.
   *
   * @param about the job that the chore concerns, if any
   * @throws errors that are caused neither by stored data nor by a statement timeout
   */
  async do(
    name: string,
    work: () => Promise<unknown>,
    about: Pick<Aside, 'queueId' | 'jobId'> = {},
  ): Promise<void> {
    const pausedUntil = this.#failed.get(name);
    if (pausedUntil !== undefined && performance.now() < pausedUntil) return;
    try {
      await work();
      if (this.#failed.delete(name)) await this.#setAside.removeProcessed('cleaner', [name]);
    } catch (error) {
      if (!isOfData(error) && sqlStateOf(error) !== '57014') throw error;
      this.#failed.set(name, performance.now() + pauseMs);
      await this.#setAside.putInOwnTransaction({ role: 'cleaner', key: name, ...about }, error);
    }
  }
}
