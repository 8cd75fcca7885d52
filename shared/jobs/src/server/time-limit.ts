export interface TimeLimitOptions {
  readonly timeoutMs: number;
  readonly graceMs: number;
  readonly onTimeout: () => void;
  readonly onGraceOver: () => void;
}

/**
 * Calls `onTimeout` after `timeoutMs`, and `onGraceOver` after another `graceMs`. `cancel` prevents the calls that are
 * still pending.
 */
export class TimeLimit {
  #timer: NodeJS.Timeout;

  constructor({ timeoutMs, graceMs, onTimeout, onGraceOver }: TimeLimitOptions) {
    this.#timer = setTimeout(() => {
      this.#timer = setTimeout(onGraceOver, graceMs);
      onTimeout();
    }, timeoutMs);
  }

  cancel(): void {
    clearTimeout(this.#timer);
  }
}
