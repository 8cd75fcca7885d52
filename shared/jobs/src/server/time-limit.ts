export interface TimeLimitOptions {
  readonly timeoutMs: number;
  readonly graceMs: number;
  readonly onTimeout: () => void;
  readonly onGraceOver: () => void;
}

/** Two timers: one for the time limit, one for the grace period after it. */
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
