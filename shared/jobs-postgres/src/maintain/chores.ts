import { isOfData } from '../connection/database.js';
import type { Aside, PostgresSetAside } from './set-aside.js';

/** A chore that failed is left alone for so long by this process. */
const pauseMs = 60_000;

/** Does chores one after the other: one that fails because of data is set aside, and the others are done. */
export class Chores {
  readonly #setAside: PostgresSetAside;
  /** Chores that failed, by the time from which they are tried again. */
  readonly #failed = new Map<string, number>();

  constructor(setAside: PostgresSetAside) {
    this.#setAside = setAside;
  }

  /** @param about what it concerns, if it is about a job */
  async do(
    name: string,
    work: () => Promise<unknown>,
    about: Pick<Aside, 'queueId' | 'jobId'> = {},
  ): Promise<void> {
    const pausedUntil = this.#failed.get(name);
    if (pausedUntil !== undefined && performance.now() < pausedUntil) return;
    try {
      await work();
      if (this.#failed.delete(name)) await this.#setAside.settled('cleaner', [name]);
    } catch (error) {
      if (!isOfData(error)) throw error;
      this.#failed.set(name, performance.now() + pauseMs);
      await this.#setAside.putAlone({ role: 'cleaner', key: name, ...about }, error);
    }
  }
}
