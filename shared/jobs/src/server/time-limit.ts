export interface TimeLimitOptions {
  readonly timeoutMs: number;
  readonly graceMs: number;
  readonly onTimeout: () => void;
  readonly onGraceOver: () => void;
}

/** Two bells: one when the time is up, one when the grace after it is over too. */
export class TimeLimit {
  #timer: NodeJS.Timeout;

  constructor({ timeoutMs, graceMs, onTimeout, onGraceOver }: TimeLimitOptions) {
    this.#timer = setTimeout(() => {
      this.#timer = setTimeout(onGraceOver, graceMs);
      onTimeout();
    }, timeoutMs);
  }

  /** Neither bell rings any more. */
  lift(): void {
    clearTimeout(this.#timer);
  }
}
