import type { Logger } from './logger.js';

export interface LoopOptions {
  /** Describes the task in log lines, for example `fetching jobs`. */
  readonly task: string;
  /**
   * Runs one round. Resolves to the time until the next round, in milliseconds. A call to `wake` can start the next
   * round earlier.
   */
  readonly runOnce: () => Promise<number>;
  readonly logger: Logger;
}

/**
 * Maximum delay after a failed round, in milliseconds. The delay starts at 100 and doubles. The maximum is short, so
 * that jobs start within a second after a storage outage.
 */
const maxRetryMs = 800;

/**
 * Repeats a background task, one round at a time. Logs a failed round and retries it with increasing delays, because a
 * storage outage must not end the server.
 */
export class Loop {
  readonly #options: LoopOptions;
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> | undefined;
  #wokenDuringRound = false;
  #failures = 0;
  #running = false;

  constructor(options: LoopOptions) {
    this.#options = options;
  }

  /** @param afterMs milliseconds until the first round; 0 by default */
  start(afterMs = 0): void {
    this.#running = true;
    if (afterMs === 0) this.wake();
    else this.#plan(afterMs);
  }

  /**
   * Starts a round now, or right after the current one. After a failed round, the retry delay still applies. Does
   * nothing if the loop has not been started or has been stopped.
   */
  wake(): void {
    if (!this.#running) return;
    if (this.#round !== undefined) {
      this.#wokenDuringRound = true;
      return;
    }
    if (this.#failures > 0 && this.#timer !== undefined) return; // keep waiting for the retry
    clearTimeout(this.#timer);
    this.#round = this.#runRound();
  }

  /** Stops the loop. Resolves when the current round has ended. */
  async stop(): Promise<void> {
    this.#running = false;
    clearTimeout(this.#timer);
    await this.#round;
  }

  async #runRound(): Promise<void> {
    this.#timer = undefined;
    this.#wokenDuringRound = false;
    let pauseMs: number;
    try {
      pauseMs = await this.#options.runOnce();
      if (this.#failures > 0) this.#options.logger.info({}, `${this.#options.task}: recovered`);
      this.#failures = 0;
    } catch (error) {
      pauseMs = Math.min(100 * 2 ** this.#failures++, maxRetryMs);
      this.#wokenDuringRound = false;
      // Once the loop is stopping, nothing depends on the round any more, and the storage may be closed.
      if (this.#running)
        this.#options.logger.warn({ err: error, retryInMs: pauseMs }, `${this.#options.task}: failed`);
    }
    this.#round = undefined;
    if (!this.#running) return;
    this.#plan(this.#wokenDuringRound ? 0 : pauseMs);
  }

  #plan(pauseMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.wake();
    }, pauseMs);
  }
}
