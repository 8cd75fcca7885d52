export interface TimeLimitOptions {
  readonly timeoutMs: number;
  readonly graceMs: number;
  readonly onTimeout: () => void;
  readonly onGraceOver: () => void;
}

/** Calls `onTimeout` after the time limit, and `onGraceOver` when the grace period after it has passed as well. */
export class TimeLimit {
  #timer: NodeJS.Timeout;

  constructor({ timeoutMs, graceMs, onTimeout, onGraceOver }: TimeLimitOptions) {
    this.#timer = setTimeout(() => {
      this.#timer = setTimeout(onGraceOver, graceMs);
      onTimeout();
    }, timeoutMs);
  }

  /** Cancels both timers. */
  cancel(): void {
    clearTimeout(this.#timer);
  }
}
