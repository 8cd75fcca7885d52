export interface TimeLimitOptions {
  readonly timeoutMs: number;
  readonly graceMs: number;
  readonly onTimeout: () => void;
  readonly onGraceOver: () => void;
}

/** Calls `onTimeout` after `timeoutMs`, and `onGraceOver` another `graceMs` later, unless `cancel` is called first. */
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
