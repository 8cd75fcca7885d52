/** A semaphore that serves callers in the order of their arrival. A caller stops waiting when its signal aborts. */
export class FifoSemaphore {
  readonly #waiting = new Set<() => void>();
  #free: number;

  constructor(atOnce: number) {
    this.#free = atOnce;
  }

  /**
   * Waits for a free slot and takes it. The caller must give the slot back with `release`. Rejects with the signal's
   * reason if the signal aborts first.
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

  /** Releases a slot. If callers are waiting, the first of them gets it. */
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
