import type { Logger } from './logger.js';

export interface LoopOptions {
  /** What it does, for the log: `fetching jobs`. */
  readonly task: string;
  /** One round. Resolves to the milliseconds until the next, unless woken earlier. */
  readonly runOnce: () => Promise<number>;
  readonly logger: Logger;
}

/**
 * After a failed round the next comes after 100 ms, doubling up to this: once a storage that was away is back, jobs start
 * within a second.
 */
const maxRetryMs = 800;

/**
 * Repeats one background task, never two rounds at a time. A round that fails is logged and tried again with
 * growing pauses: a storage that is away for a minute must not end a server.
 */
export class Loop {
  readonly #options: LoopOptions;
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> | undefined;
  #wokenMeanwhile = false;
  #failures = 0;
  #running = false;

  constructor(options: LoopOptions) {
    this.#options = options;
  }

  /** @param afterMs milliseconds until the first round */
  start(afterMs = 0): void {
    this.#running = true;
    if (afterMs === 0) this.wake();
    else this.#plan(afterMs);
  }

  /** Begins a round now, or another one right after the round under way. */
  wake(): void {
    if (!this.#running) return;
    if (this.#round !== undefined) {
      this.#wokenMeanwhile = true;
      return;
    }
    if (this.#failures > 0 && this.#timer !== undefined) return; // a pause after failures is not cut short
    clearTimeout(this.#timer);
    this.#round = this.#runRound();
  }

  /** Resolves when the round under way has ended; no other follows. */
  async stop(): Promise<void> {
    this.#running = false;
    clearTimeout(this.#timer);
    await this.#round;
  }

  async #runRound(): Promise<void> {
    this.#timer = undefined;
    this.#wokenMeanwhile = false;
    let pauseMs: number;
    try {
      pauseMs = await this.#options.runOnce();
      if (this.#failures > 0) this.#options.logger.info({}, `${this.#options.task}: works again`);
      this.#failures = 0;
    } catch (error) {
      pauseMs = Math.min(100 * 2 ** this.#failures++, maxRetryMs);
      this.#wokenMeanwhile = false;
      this.#options.logger.warn({ err: error, retryInMs: pauseMs }, `${this.#options.task}: failed`);
    }
    this.#round = undefined;
    if (!this.#running) return;
    this.#plan(this.#wokenMeanwhile ? 0 : pauseMs);
  }

  #plan(pauseMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.wake();
    }, pauseMs);
  }
}
