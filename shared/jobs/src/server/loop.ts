import type { Logger } from './logger.js';
import { outageOf } from './storage-outage.js';

export interface LoopOptions {
  /** Describes the task in log lines, for example `fetching jobs`. */
  readonly task: string;
  /**
   * Runs one round. Resolves to the time until the next round, in milliseconds. A call to `wake` can start the next
   * round earlier.
   */
  readonly runOnce: () => Promise<number>;
  readonly logger: Logger;
  /**
   * Minimum time between the starts of two rounds if a notification causes the second, in milliseconds; 20 by default.
   * Bounds what notifications can cost, because anyone who may connect to the database can send false ones.
   */
  readonly floorMs?: number;
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
  /** When the timer fires, and when the last round started. */
  #plannedAt = Infinity;
  #startedAt = -Infinity;
  /** The earliest time for which a notification has asked for a round during the current one. */
  #notifiedFor = Infinity;
  #failures = 0;
  /** Whether one of these failures was logged, which those of an outage are not. */
  #hasLogged = false;
  #running = false;
  /** Called with the result of the first round that starts after they were added and succeeds. */
  #waiters: ((pauseMs: number | null) => void)[] = [];

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

  /**
   * Makes sure that a round starts within this time, unless it would anyway, but not sooner than `floorMs` after the
   * start of the last one. After a failed round, the retry delay still applies. Does nothing if the loop has not been
   * started or has been stopped.
   */
  notified(withinMs: number): void {
    if (!this.#running) return;
    const now = performance.now();
    const at = Math.max(now + withinMs, this.#startedAt + (this.#options.floorMs ?? 20));
    if (this.#round !== undefined) this.#notifiedFor = Math.min(this.#notifiedFor, at);
    else if (this.#failures === 0 && at < this.#plannedAt) {
      if (at <= now) this.wake();
      else this.#plan(at - now);
    }
  }

  /**
   * Starts a round as {@link wake} does. Resolves when a round that started after this call has succeeded, to the time
   * until the next one in milliseconds; to `null` if the loop is not running.
   */
  round(): Promise<number | null> {
    return new Promise((resolve) => {
      if (!this.#running) return resolve(null);
      this.#waiters.push(resolve);
      this.wake();
    });
  }

  /** Stops the loop. Resolves when the current round has ended. */
  async stop(): Promise<void> {
    this.#running = false;
    outageOf(this.#options.logger).gaveUp(this);
    clearTimeout(this.#timer);
    await this.#round;
    for (const resolve of this.#waiters.splice(0)) resolve(null);
  }

  async #runRound(): Promise<void> {
    this.#timer = undefined;
    this.#startedAt = performance.now();
    this.#plannedAt = Infinity;
    this.#notifiedFor = Infinity;
    this.#wokenDuringRound = false;
    const waiters = this.#waiters.splice(0);
    let pauseMs: number;
    try {
      pauseMs = await this.#options.runOnce();
      this.#succeeded();
      for (const resolve of waiters) resolve(pauseMs);
    } catch (error) {
      this.#waiters.unshift(...waiters);
      pauseMs = Math.min(100 * 2 ** this.#failures++, maxRetryMs);
      this.#wokenDuringRound = false;
      this.#notifiedFor = Infinity;
      // Once the loop is stopping, nothing depends on the round any more, and the storage may be closed.
      if (this.#running && !outageOf(this.#options.logger).failed(this, error)) {
        this.#hasLogged = true;
        this.#options.logger.warn({ err: error, retryInMs: pauseMs }, `${this.#options.task}: failed`);
      }
    }
    this.#round = undefined;
    if (!this.#running) return;
    const notifiedMs = Math.max(0, this.#notifiedFor - performance.now());
    this.#plan(this.#wokenDuringRound ? 0 : Math.min(pauseMs, notifiedMs));
  }

  #succeeded(): void {
    outageOf(this.#options.logger).succeeded(this);
    this.#failures = 0;
    if (this.#hasLogged) this.#options.logger.info({}, `${this.#options.task}: recovered`);
    this.#hasLogged = false;
  }

  #plan(pauseMs: number): void {
    clearTimeout(this.#timer);
    this.#plannedAt = performance.now() + pauseMs;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.wake();
    }, pauseMs);
  }
}
