/** A semaphore that serves callers in order of arrival. */
export class FifoSemaphore {
  readonly #waiting = new Set<() => void>();
  #free: number;

  constructor(atOnce: number) {
    this.#free = atOnce;
  }

  /**
   * Waits for a free slot and takes it. The caller must call `release` afterwards. If the signal aborts first, rejects
   * with the signal's reason.
   */
  async take(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#free > 0) {
      this.#free--;
      return;
    }
    const hasBegun = await new Promise<boolean>((resolve) => {
      const giveUp = (): void => {
        this.#waiting.delete(begin);
        resolve(false);
      };
      const begin = (): void => {
        signal.removeEventListener('abort', giveUp);
        resolve(true);
      };
      signal.addEventListener('abort', giveUp, { once: true });
      this.#waiting.add(begin);
    });
    if (!hasBegun) signal.throwIfAborted();
  }

  /** Releases a slot. The slot goes to the first waiting caller, if there is one. */
  release(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free++;
    } else {
      this.#waiting.delete(next);
      next();
    }
  }
}
